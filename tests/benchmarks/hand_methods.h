/* The methods of hand.c, for one system of size N with M constraints called NAME(...).
 *
 * Included twice per system: first for the type of the quantities a system provides, then, once
 * the system is written, for its three run functions.
 */
#ifndef TERMS_DECLARED
#define TERMS_DECLARED
/* At (q + h v / 2, v): p_minus, p_plus, wd and the energy; suffix _v, _h: their derivatives. */
typedef struct {
    double pm[N], pm_v[N][N], pm_h[N], pp[N], wd[M], wd_v[M][N], wd_h[M], E, E_v[N], E_h;
} NAME(terms);
#else
#undef TERMS_DECLARED

/* Write the row of one step and move (q, p) to its end. */
INLINE double *NAME(advance)(double h, const double *x, const double *pp, double *q, double *p,
                             double *out)
{
    for (int i = 0; i < N; i++) *out++ = q[i] += h * x[i];
    for (int i = 0; i < N; i++) *out++ = p[i] = pp[i];
    for (int i = 0; i < M; i++) *out++ = x[N + i];
    for (int i = 0; i < N; i++) *out++ = x[i];
    return out;
}

/* p_minus(q, v) - p + A(q)^T lam = 0, wd(q, v) = 0 in the first N + M rows of k. */
INLINE void NAME(dla_rows)(int k, const NAME(terms) *o, const double *p, double a[M][N],
                           const double *x, double *J, double *r)
{
    for (int i = 0; i < N; i++) {
        r[i] = o->pm[i] - p[i];
        for (int j = 0; j < N; j++) J[i * k + j] = o->pm_v[i][j];
        for (int j = 0; j < M; j++) {
            r[i] += a[j][i] * x[N + j];
            J[i * k + N + j] = a[j][i];
        }
    }
    for (int i = 0; i < M; i++) {
        r[N + i] = o->wd[i];
        for (int j = 0; j < N; j++) J[(N + i) * k + j] = o->wd_v[i][j];
        for (int j = 0; j < M; j++) J[(N + i) * k + N + j] = 0;
    }
}

/* One DLA step: Newton for x = (v, lam) from the x given. */
INLINE int NAME(solve_dla)(const double *q, const double *p, const double *par, double h,
                           double a[M][N], double *x)
{
    double J[(N + M) * (N + M)], r[N + M];
    NAME(terms) o;
    for (int iteration = 0; iteration < NEWTON_MAX; iteration++) {
        NAME(at_midpoint)(q, par, h, x, &o);
        NAME(dla_rows)(N + M, &o, p, a, x, J, r);
        if (!lu_solve(N + M, J, r)) return 0;
        if (update(N + M, x, r)) return 1;
    }
    return 0;
}

long NAME(run_dla)(long steps, double h, const double *par, const double *q0, const double *p0,
                   const double *v_guess, double *out)
{
    double q[N], p[N], x[N + M] = {0}, a[M][N];
    NAME(terms) o;
    for (int i = 0; i < N; i++) q[i] = q0[i], p[i] = p0[i], x[i] = v_guess[i];
    for (long k = 0; k < steps; k++) {
        NAME(forms)(q, par, a);
        if (!NAME(solve_dla)(q, p, par, h, a, x)) return k;
        NAME(at_midpoint)(q, par, h, x, &o);
        out = NAME(advance)(h, x, o.pp, q, p, out);
    }
    return steps;
}

long NAME(run_projector)(long steps, double h, const double *par, const double *q0,
                         const double *p0, const double *v_guess, double *out)
{
    enum { K = N + M };
    double q[N], p[N], x[K], a[M][N], m[N][N], J[K * K], r[K];
    NAME(terms) o;
    for (int i = 0; i < N; i++) q[i] = q0[i], p[i] = p0[i], x[i] = v_guess[i];
    for (long k = 0; k < steps; k++) {
        /* M w + A^T mu = p, A w = 0: reflect the normal part of p */
        NAME(mass)(q, par, m);
        NAME(forms)(q, par, a);
        for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++)
                J[i * K + j] = i < N ? (j < N ? m[i][j] : a[j - N][i]) : (j < N ? a[i - N][j] : 0);
        for (int i = 0; i < K; i++) r[i] = i < N ? p[i] : 0;
        if (!lu_solve(K, J, r)) return k;
        for (int j = 0; j < M; j++) {
            x[N + j] = 2 * r[N + j];
            for (int i = 0; i < N; i++) p[i] -= a[j][i] * x[N + j];
        }
        for (int i = 0; i < N; i++) x[i] = 2 * r[i] - x[i];
        /* p_minus(q, v) = the reflected momentum */
        int iteration = 0, converged = 0;
        while (!converged) {
            if (iteration++ == NEWTON_MAX) return k;
            NAME(at_midpoint)(q, par, h, x, &o);
            for (int i = 0; i < N; i++) {
                r[i] = o.pm[i] - p[i];
                for (int j = 0; j < N; j++) J[i * N + j] = o.pm_v[i][j];
            }
            if (!lu_solve(N, J, r)) return k;
            converged = update(N, x, r);
        }
        NAME(at_midpoint)(q, par, h, x, &o);
        out = NAME(advance)(h, x, o.pp, q, p, out);
    }
    return steps;
}

long NAME(run_edla)(long steps, double h, const double *par, const double *q0, const double *p0,
                    const double *v_guess, double *out)
{
    enum { K = N + M + 1 };
    double q[N], p[N], x[K] = {0}, a[M][N], J[K * K], r[K], E0 = 0, t = 0;
    NAME(terms) o;
    for (int i = 0; i < N; i++) q[i] = q0[i], p[i] = p0[i], x[i] = v_guess[i];
    x[K - 1] = h;
    for (long k = 0; k < steps; k++) {
        NAME(forms)(q, par, a);
        if (!NAME(solve_dla)(q, p, par, x[K - 1], a, x)) return k;
        if (k > 0) {
            int iteration = 0, converged = 0;
            while (!converged) {
                if (iteration++ == NEWTON_MAX) return k;
                NAME(at_midpoint)(q, par, x[K - 1], x, &o);
                NAME(dla_rows)(K, &o, p, a, x, J, r);
                for (int i = 0; i < N; i++) J[i * K + K - 1] = o.pm_h[i];
                for (int i = 0; i < M; i++) J[(N + i) * K + K - 1] = o.wd_h[i];
                for (int j = 0; j < N; j++) J[(K - 1) * K + j] = o.E_v[j];
                for (int j = 0; j < M; j++) J[(K - 1) * K + N + j] = 0;
                J[(K - 1) * K + K - 1] = o.E_h;
                r[K - 1] = o.E - E0;
                if (!lu_solve(K, J, r)) return k;
                converged = update(K, x, r);
            }
            if (!(x[K - 1] > 0)) return k;
        }
        NAME(at_midpoint)(q, par, x[K - 1], x, &o);
        if (k == 0) E0 = o.E;
        out = NAME(advance)(x[K - 1], x, o.pp, q, p, out);
        *out++ = t += x[K - 1];
        *out++ = x[K - 1];
    }
    return steps;
}
#undef N
#undef M
#undef NAME
#endif
