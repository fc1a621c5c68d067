/* DLA, projector and EDLA at the midpoint, written by hand in C for three systems.
 *
 * What an engineer writes who needs one system fast: the Jacobian on paper, Newton with a dense
 * LU, all sizes constant. The systems are in this file, the methods in hand_methods.h. Every
 *
 *     long run_METHOD_SYSTEM(long steps, double h, const double *par, const double *q0,
 *                            const double *p0, const double *v_guess, double *out)
 *
 * writes one row [q(n) p(n) lam(m) v(n)] per step, EDLA [... t h], and returns the number of
 * steps completed. p0 is the momentum carried into the first step.
 */
#include <math.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define INLINE static inline __attribute__((always_inline))

/* Solve a x = b in place for a k x k matrix: Gauss elimination with partial pivoting. */
INLINE int lu_solve(int k, double *a, double *b)
{
    for (int j = 0; j < k; j++) {
        int pivot = j;
        for (int i = j + 1; i < k; i++)
            if (fabs(a[i * k + j]) > fabs(a[pivot * k + j])) pivot = i;
        if (!(fabs(a[pivot * k + j]) > 0)) return 0;
        if (pivot != j) {
            for (int l = j; l < k; l++) {
                double swap = a[j * k + l];
                a[j * k + l] = a[pivot * k + l];
                a[pivot * k + l] = swap;
            }
            double swap = b[j];
            b[j] = b[pivot];
            b[pivot] = swap;
        }
        double inverse = 1 / a[j * k + j];
        for (int i = j + 1; i < k; i++) {
            double f = a[i * k + j] * inverse;
            for (int l = j + 1; l < k; l++) a[i * k + l] -= f * a[j * k + l];
            b[i] -= f * b[j];
        }
    }
    for (int i = k - 1; i >= 0; i--) {
        for (int l = i + 1; l < k; l++) b[i] -= a[i * k + l] * b[l];
        b[i] /= a[i * k + i];
    }
    return 1;
}

/* x -= dx; true when |dx| <= 1e-10 (1 + |x|) in the sum norm. */
INLINE int update(int k, double *x, const double *dx)
{
    double size = 0, change = 0;
    for (int i = 0; i < k; i++) {
        x[i] -= dx[i];
        change += fabs(dx[i]);
        size += fabs(x[i]);
    }
    return change <= 1e-10 * (1 + size);
}

enum { NEWTON_MAX = 10 };

/* ---- nonholonomic particle: L = |v|^2/2 - (x^2 + y^2), z' - y x' = 0 ---- */
#define N 3
#define M 1
#define NAME(f) PASTE(f, _particle)
#include "hand_methods.h"

INLINE void NAME(mass)(const double *q, const double *par, double m[N][N])
{
    m[0][0] = m[1][1] = m[2][2] = 1;
    m[0][1] = m[0][2] = m[1][0] = m[1][2] = m[2][0] = m[2][1] = 0;
}

INLINE void NAME(forms)(const double *q, const double *par, double a[M][N])
{
    a[0][0] = -q[1], a[0][1] = 0, a[0][2] = 1;
}

INLINE void NAME(at_midpoint)(const double *q, const double *par, double h, const double *v,
                              NAME(terms) *o)
{
    double x = q[0] + h / 2 * v[0], y = q[1] + h / 2 * v[1];
    o->pm[0] = v[0] + h * x, o->pm[1] = v[1] + h * y, o->pm[2] = v[2];
    o->pp[0] = v[0] - h * x, o->pp[1] = v[1] - h * y, o->pp[2] = v[2];
    o->pm_v[0][0] = o->pm_v[1][1] = 1 + h * h / 2, o->pm_v[2][2] = 1;
    o->pm_v[0][1] = o->pm_v[0][2] = o->pm_v[1][0] = 0;
    o->pm_v[1][2] = o->pm_v[2][0] = o->pm_v[2][1] = 0;
    o->pm_h[0] = x + h / 2 * v[0], o->pm_h[1] = y + h / 2 * v[1], o->pm_h[2] = 0;
    o->wd[0] = v[2] - y * v[0];
    o->wd_v[0][0] = -y, o->wd_v[0][1] = -h / 2 * v[0], o->wd_v[0][2] = 1;
    o->wd_h[0] = -v[1] * v[0] / 2;
    o->E = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2 + x * x + y * y;
    o->E_v[0] = v[0] + h * x, o->E_v[1] = v[1] + h * y, o->E_v[2] = v[2];
    o->E_h = x * v[0] + y * v[1];
}
#include "hand_methods.h"

/* ---- Chaplygin sleigh: q = (x, y, theta), par = (m, I, a), x' sin - y' cos = 0 ---- */
#define N 3
#define M 1
#define NAME(f) PASTE(f, _sleigh)
#include "hand_methods.h"

INLINE void NAME(mass)(const double *q, const double *par, double m[N][N])
{
    double ma = par[0] * par[2];
    m[0][0] = m[1][1] = par[0], m[0][1] = m[1][0] = 0;
    m[0][2] = m[2][0] = -ma * sin(q[2]);
    m[1][2] = m[2][1] = ma * cos(q[2]);
    m[2][2] = par[1] + ma * par[2];
}

INLINE void NAME(forms)(const double *q, const double *par, double a[M][N])
{
    a[0][0] = sin(q[2]), a[0][1] = -cos(q[2]), a[0][2] = 0;
}

INLINE void NAME(at_midpoint)(const double *q, const double *par, double h, const double *v,
                              NAME(terms) *o)
{
    double m = par[0], ma = m * par[2], K = par[1] + ma * par[2], w = v[2];
    double s = sin(q[2] + h / 2 * w), c = cos(q[2] + h / 2 * w);
    double along = v[0] * c + v[1] * s, across = v[1] * c - v[0] * s, turn = ma * across + K * w;
    double force = ma * w * along;
    o->pm[0] = o->pp[0] = m * v[0] - ma * w * s;
    o->pm[1] = o->pp[1] = m * v[1] + ma * w * c;
    o->pm[2] = turn + h / 2 * force, o->pp[2] = turn - h / 2 * force;
    o->pm_v[0][0] = o->pm_v[1][1] = m, o->pm_v[0][1] = o->pm_v[1][0] = 0;
    o->pm_v[0][2] = -ma * (s + h / 2 * w * c), o->pm_v[1][2] = ma * (c - h / 2 * w * s);
    o->pm_v[2][0] = ma * (h / 2 * w * c - s), o->pm_v[2][1] = ma * (h / 2 * w * s + c);
    o->pm_v[2][2] = K + h * h / 4 * ma * w * across;
    o->pm_h[0] = -ma * w * w / 2 * c, o->pm_h[1] = -ma * w * w / 2 * s;
    o->pm_h[2] = h / 4 * ma * w * w * across;
    o->wd[0] = -across;
    o->wd_v[0][0] = s, o->wd_v[0][1] = -c, o->wd_v[0][2] = h / 2 * along;
    o->wd_h[0] = w / 2 * along;
    o->E = m / 2 * (v[0] * v[0] + v[1] * v[1]) + ma * w * across + K / 2 * w * w;
    o->E_v[0] = o->pm[0], o->E_v[1] = o->pm[1], o->E_v[2] = turn - h / 2 * force;
    o->E_h = -w / 2 * force;
}
#include "hand_methods.h"

/* ---- snakeboard: q = (x, y, theta, psi, phi), par = (m, J, J0, J1, r) ---- */
#define N 5
#define M 2
#define NAME(f) PASTE(f, _snakeboard)
#include "hand_methods.h"

INLINE void NAME(mass)(const double *q, const double *par, double m[N][N])
{
    double diagonal[N] = {par[0], par[0], par[1] + 2 * par[3], par[2], 2 * par[3]};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) m[i][j] = i == j ? diagonal[i] : 0;
}

INLINE void NAME(forms)(const double *q, const double *par, double a[M][N])
{
    double rc = par[4] * cos(q[4]);
    a[0][0] = sin(q[2] + q[4]), a[0][1] = -cos(q[2] + q[4]), a[0][2] = rc;
    a[1][0] = sin(q[2] - q[4]), a[1][1] = -cos(q[2] - q[4]), a[1][2] = -rc;
    a[0][3] = a[0][4] = a[1][3] = a[1][4] = 0;
}

INLINE void NAME(at_midpoint)(const double *q, const double *par, double h, const double *v,
                              NAME(terms) *o)
{
    double diagonal[N] = {par[0], par[0], par[1] + 2 * par[3], par[2], 2 * par[3]};
    double th = q[2] + h / 2 * v[2], phi = q[4] + h / 2 * v[4], w = par[4] * v[2];
    double s1 = sin(th + phi), c1 = cos(th + phi), s2 = sin(th - phi), c2 = cos(th - phi);
    double s = sin(phi), c = cos(phi);
    double along1 = v[0] * c1 + v[1] * s1, along2 = v[0] * c2 + v[1] * s2;
    double by_phi1 = along1 - w * s, by_phi2 = w * s - along2;
    o->E = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) o->pm_v[i][j] = i == j ? diagonal[i] : 0;
        o->pm[i] = o->pp[i] = o->E_v[i] = diagonal[i] * v[i];
        o->pm_h[i] = 0;
        o->E += diagonal[i] * v[i] * v[i] / 2;
    }
    o->E_h = 0;
    o->wd[0] = v[0] * s1 - v[1] * c1 + w * c;
    o->wd[1] = v[0] * s2 - v[1] * c2 - w * c;
    o->wd_v[0][0] = s1, o->wd_v[0][1] = -c1, o->wd_v[0][2] = par[4] * c + h / 2 * along1;
    o->wd_v[1][0] = s2, o->wd_v[1][1] = -c2, o->wd_v[1][2] = -par[4] * c + h / 2 * along2;
    o->wd_v[0][3] = o->wd_v[1][3] = 0;
    o->wd_v[0][4] = h / 2 * by_phi1, o->wd_v[1][4] = h / 2 * by_phi2;
    o->wd_h[0] = (along1 * v[2] + by_phi1 * v[4]) / 2;
    o->wd_h[1] = (along2 * v[2] + by_phi2 * v[4]) / 2;
}
#include "hand_methods.h"
