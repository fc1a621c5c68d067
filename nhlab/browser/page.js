// What a page does where the notebook has Python: reads the sliders, runs the generated functions,
// draws.  No formula stands here: steps, starts and readings are generated from SymPy, and what
// judges or fits is translated from the Python that does so in the notebook.

// ---- the Python and NumPy that translated functions ask for

const py = {
    items: x => Object.entries(x),
    values: x => Object.values(x),
    get: (x, key, other) => x[key] ?? other,
    index(x, entry) {
        const found = x.indexOf(entry);
        if (found < 0) throw Error(`${entry} is none of ${x}`);
        return found;
    },
    startswith: (text, heads) => [heads].flat().some(x => text.startsWith(x)),
    join: (between, x) => x.join(between),
    pop: (x, key) => { const found = x[key]; delete x[key]; return found; },
    len: x => x.length,
    next: x => x[0],
    sum: x => x.reduce((a, b) => a + b, 0),
    max: (a, b, ...more) => typeof a === "number" && typeof b === "number" && !more.length
        ? a > b || a !== a ? a : b : py.extreme([a, b, ...more], (x, y) => x > y),
    min: (a, b, ...more) => typeof a === "number" && typeof b === "number" && !more.length
        ? a < b || a !== a ? a : b : py.extreme([a, b, ...more], (x, y) => x < y),
    extreme(all, better) {  // of numbers, arrays and arrays of arrays; NaN stays
        let found;
        const look = x => {
            if (typeof x !== "number") for (let k = 0; k < x.length; k++) look(x[k]);
            else if (found === undefined || better(x, found) || x !== x) found = x;
        };
        for (const x of all) if (x !== undefined) look(x.initial ?? x);
        return found;
    },
    round(x) {  // halves to the even number
        const near = Math.round(x);
        return near - x === 0.5 && near % 2 ? near - 1 : near;
    },
    format(x, spec) {
        if (!spec || typeof x === "string") return String(x);
        if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
        const digits = parseInt(spec.slice(1)), kind = spec.at(-1);
        const power = text => text.replace(/e([+-])(\d)$/, "e$10$2");
        if (kind === "f") return x.toFixed(digits);
        if (kind === "e") return power(x.toExponential(digits));
        const [whole, e] = x.toExponential(Math.max(digits, 1) - 1).split("e");
        const short = text => text.includes(".") ? text.replace(/\.?0+$/, "") : text;
        if (e < -4 || e >= digits) return power(`${short(whole)}e${e}`);
        return short(x.toFixed(Math.max(digits, 1) - 1 - e));
    },
    repr(x) {  // of a float
        const [digits, e] = x.toExponential().split("e");
        if (e < -4 || e >= 16) return `${digits}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, 0)}`;
        return Number.isInteger(x) ? `${x}.0` : String(x);
    },
};
const np = {
    nan: NaN,
    abs: x => x.map === undefined ? Math.abs(x) : Array.from(x, np.abs),
    arange: count => array(count, k => k),
    array: x => Float64Array.from(x),
    ceil: Math.ceil,
    diff: x => array(Math.max(0, x.length - 1), k => x[k + 1] - x[k]),
    divide: (x, size) => x.map(u => u / size),
    floor: Math.floor,
    isfinite: Number.isFinite,
    maximum: Math.max,  // of two numbers; NaN stays
    minimum: Math.min,
    sign: x => x.map(Math.sign),
    sqrt: Math.sqrt,
    subtract: (x, y) => typeof y === "number" ? x.map(u => u - y) : x.map((u, k) => u - y[k]),
    take: (x, j) => array(x.length, k => x[k][j]),  // of each row
    log10: Math.log10,
    ptp: x => py.max(x) - py.min(x),
    where: (condition, x, y) => condition ? x : y,
    array_split(x, parts) {
        const least = Math.floor(x.length / parts), more = x.length % parts;
        const at = k => k * least + Math.min(k, more);
        return Array.from({length: parts}, (_, k) => x.slice(at(k), at(k + 1)));
    },
};

// ---- a run

const array = (length, at) => {
    const found = new Float64Array(length);
    for (let k = 0; k < length; k++) found[k] = at(k);
    return found;
};
const some = (name, count, from = 0) =>
    Array.from({length: count}, (_, j) => `${name}[${from + j}]`);
// A function for each k, as a loop over k: what it is given is written out, which is much faster
// than spreading arrays.
const LOOPS = new WeakMap();
function each(f, count, given, rows, t, h, x, par) {
    const key = given.join(), known = LOOPS.get(f) ?? LOOPS.set(f, {}).get(f);
    known[key] ??= new Function("f", `return (count, rows, t, h, x, par) => {
        const out = Array(count);
        for (let k = 0; k < count; k++) out[k] = f(${key});
        return out; }`)(f);
    return known[key](count, rows, t, h, x, par);
}

class Run {  // like nhlab's Trajectory, as far as pages read it
    constructor(system, method, call) {
        Object.assign(this, {system, method, call, rows: [], stop: null, kept: {}});
        this.width = method.layout.width;
    }
    get length() { return this.rows.length / this.width; }
    once(name, make) { return this.kept[name] ??= make(); }
    part(name, k) {
        const [a, b] = this.method.layout[name];
        return this.rows.slice(k * this.width + a, k * this.width + b);
    }
    column(name, j = 0) {
        const at = this.method.layout[name][0] + j;
        return array(this.length, k => this.rows[k * this.width + at]);
    }
    get q() { return this.once("q", () => Array.from({length: this.length}, (_, k) => this.part("q", k))); }
    get t() {
        const {variable} = this.method, h = this.call.h;
        return this.once("t", () => variable ? this.column("t") : array(this.length, k => k*h));
    }
    get h() {
        const {variable} = this.method, h = this.call.h;
        const fixed = () => array(this.length - 1, () => h);
        return this.once("h", () => variable ? this.column("h").slice(1) : fixed());
    }
    // The entries of a part of row k, or of one after it, as text.
    text(name, after = 0) {
        const [a, b] = this.method.layout[name];
        return Array.from({length: b - a}, (_, j) => `rows[k*${this.width}+${after * this.width + a + j}]`);
    }
    each(f, count, given, x = null) {
        return each(f, count, given, this.rows, this.t, this.h, x, this.call.par);
    }
    // Of each node (ok, h, E, A v, v), by the evolved momenta or velocities.
    get read() {
        const {of_p, of_v} = this.system, head = ["t[k]", "0", ...this.text("q")];
        const par = some("par", this.call.par.length), v = this.text("v");
        return this.once("read", () => this.method.discrete
            ? this.each(of_p, this.length, [...head, ...this.text("p"), ...v, ...par])
            : this.each(of_v, this.length, [...head, ...v, ...par]));
    }
    // Of each step (ok, h, E, p_minus, wd).
    get steps() {
        const {method, call} = this, alpha = call.alpha(method);
        const own = [alpha, method.constraint_alpha ?? alpha];
        const given = ["t[k]", "h[k]", ...this.text("q"), ...this.text("v", 1), ...some("x", 2)];
        return this.once("steps", () => this.each(
            method.on_step, this.length - 1, [...given, ...some("par", call.par.length)], own));
    }
    get p_minus() { return this.steps.map(x => x.slice(3, 3 + this.system.v.length)); }
    get said() { return filled(this.method.said, {alpha: this.call.alpha(this.method)}); }
    // What nh.integrate warns of.
    get warning() {
        const {system: {heights}, call: {h, par}, method, length} = this;
        if (!heights || method.reference || this.stop || length < 2) return "";
        const given = ["t[k]", "0", ...this.text("q"), ...this.text("v"), ...some("par", par.length)];
        const apart = rows_apart(length);
        const found = this.each(heights, length, given).filter((_, k) => k % apart === 0);
        const reach = [2, 3].flatMap(j => (x => [x[0], py.min(x), py.max(x)])(found.map(x => x[j])));
        const n = this.system.v.length, [p, m] = [4, 4 + n].map(j => found[0].slice(j, j + n));
        const hidden = py.sum(p.map((x, k) => hidden_energy(x, m[k])));
        const [after, jumped] = energy_jump(...reach, hidden);
        return jumped ? energy_warning(reach[0], after, h, this.said) : "";
    }
    energy(at = "nodes") {
        const found = at === "midpoints" ? this.steps : this.read;
        if (at !== "projected" || !this.system.projected) return array(found.length, k => found[k][2]);
        const n = this.system.v.length, par = some("par", this.call.par.length);
        const v = this.method.discrete ? some("x[k]", n, 3 + this.system.m) : this.text("v");
        const given = ["t[k]", "0", ...this.text("q"), ...v, ...par];
        const values = this.each(this.system.projected, this.length, given, found);
        return array(values.length, k => values[k][2]);
    }
    constraint(at = "nodes") {
        const m = this.system.m, n = this.system.v.length;
        if (at === "midpoints") return this.steps.map(x => x.slice(3 + n));
        if (at === "nodes") return this.read.map(x => x.slice(3, 3 + m));
        const arrive = this.text("p", 1), leave = some("x[k+1]", n, 3);  // at node k + 1
        const mean = arrive.map((p, i) => `(${p} + ${leave[i]})/2`);
        const given = ["t[k+1]", "0", ...this.text("q", 1), ...mean, ...this.text("v", 1)];
        const all = [...given, ...some("par", this.call.par.length)];
        const found = this.each(this.system.of_p, Math.max(0, this.length - 2), all, this.steps);
        return found.map(x => x.slice(3, 3 + m));
    }
}

class Call {  // what the controls ask for
    constructor(book, given) {
        const written = x => typeof x === "number" ? clean(x) : x;
        const values = Object.fromEntries(Object.entries(given).map(([k, x]) => [k, written(x)]));
        const own = (prefix, name, x) => values[`${prefix}.${name}`] ?? x;
        this.values = values;
        this.which = values.system ?? 0;
        const s = this.system = book.systems[this.which];
        this.par = s.parameters.map(([name, x]) => own("par", name, x));
        this.named = Object.fromEntries(s.parameters.map(([k], i) => [`par.${k}`, this.par[i]]));
        this.q0 = s.q.map((name, k) => own("q0", name, s.q0[k]));
        this.v0 = this.completed(s.v.map((name, k) => own("v0", name, s.v0[k])));
        this.h = values.h ?? book.h;
        this.T = values.T ?? book.T;
        this.steps = book.steps ?? steps_within(this.T, this.h);
        this.rule = Number(values.rule === "symmetric rule");
        this.second = null;
    }
    alpha(method) { return method.alpha === null ? null : this.values.alpha ?? method.alpha; }
    completed(given) {
        const [ok, , ...x] = this.system.complete(0, 0, ...this.q0, ...given, ...this.par);
        if (!ok) throw Error("these velocities do not determine the others here; move on");
        const v = x.slice(0, given.length), off = py.max([0, ...x.slice(given.length)].map(Math.abs));
        if (off > 1e-9) throw Error(`q0 is off the constraints or the group by ${py.format(off, ".3g")}`);
        return v.map((x, k) => in_given_digits(x, given[k]));
    }
    arguments(method, names, shares) {
        const known = {alpha: this.alpha(method), ...this.named};
        shares.forEach((x, k) => known[`share.${k}`] = x);
        return names.map(x => typeof x === "string" ? known[x] : x);
    }
}

function begin(run) {  // the first row or rows, and Newton's scales
    const {system: s, method, call} = run, {h, q0, par} = call, n = s.v.length;
    const none = Array(s.m).fill(0);
    const join = parts => Object.keys(method.layout).flatMap(name => parts[name] ?? []);
    if (call.second) {
        const given = [...q0, ...call.second, call.alpha(method), ...par];
        const [ok, , ...x] = method.second(0, h, ...given);
        const [v, p0, p1] = [0, 1, 2].map(k => x.slice(k * n, (k + 1) * n));
        if (!ok) throw Error("there is no motion through q0 and q1");
        run.rows.push(...join({q: q0, p: p0, v, lam: none}));
        run.rows.push(...join({q: call.second, p: p1, v, lam: none}));
        return component_shares(v, v.map(() => 0), h);
    }
    const [ok, , ...x] = method.begin(0, h, ...q0, ...call.v0, ...par);
    if (!ok) throw Error("there is no motion from this start");
    const first = {q: q0, p: x.slice(n), v: call.v0, lam: none};
    const shares = component_shares(call.v0, x.slice(0, n), h);
    if (method.variable) {
        const row = [...q0, ...first.p, ...call.v0, ...none];
        const args = call.arguments(method, method.first.arguments, shares);
        const [good, , ...new_] = method.first.step(0, h, ...row, ...args);
        const v = new_.slice(s.q.length + n, s.q.length + 2 * n), alpha = call.alpha(method);
        const e = method.on_step(0, h, ...q0, ...v, alpha, alpha, ...par)[2];
        const own = {h: [h], h_before: [h], e: [e]};
        run.rows.push(...join({...first, ...own, t: [0]}));
        if (good) run.rows.push(h, h, ...new_, h, e);
        else run.stop = {step: 0, time: 0};
    } else run.rows.push(...join(first));
    return shares;
}

// What was made for the same question the last time, or is made now.
function kept(place, question, make) {
    const key = JSON.stringify(question);
    if (place.kept?.key !== key) place.kept = {key, found: make()};
    return place.kept.found;
}

function follow(run) {  // the true motion, by the loop of nh.Reference: how many rows behind the first
    const {call: {q0, v0, h, steps, par}, method: {loop, tolerance}, system: {m}} = run;
    const y = [...q0, ...v0], out = [], first = [0, 1e-3, 0, 0, ...y];  // t, the size of a step
    const times = array(steps, k => (k + 1) * h), end = times.at(-1);
    const how = [1e5, end, false, tolerance, 1e-9 * end, ...y.map(() => tolerance), ...par];
    const [done] = loop([...first, ...first], times, out, 0, ...how), lam = Array(m).fill(0);
    run.rows.push(...y, ...lam);
    for (let k = 0; k < done; k++) run.rows.push(...out.slice(k * y.length, (k + 1) * y.length), ...lam);
    return done;
}

function integrate(method, call) {
    const run = new Run(call.system, method, call), {h, steps} = call;
    let done;
    if (method.reference) done = follow(run);
    else {
        const args = call.arguments(method, method.arguments, begin(run));
        if (run.stop) return run;
        const state = run.rows.slice(-run.width);
        done = method.loop(state, run.rows, run.length - 1, steps, 1, 0, h, ...args);
    }
    if (done < steps) run.stop = {step: done, time: run.t.at(-1)};
    return run;
}

function made(book, call, names) {  // all runs of a figure
    const runs = {}, {q0, v0, h, steps, par, which, rule} = call;
    for (const name of names) {
        const method = book.runs[name].methods[which][rule] ?? book.runs[name].methods[which][0];
        if (method === null) continue;
        const asked = [which, rule, call.alpha(method), call.second, q0, v0, h, steps, par];
        runs[name] = kept(book.runs[name], asked, () => integrate(method, call));
        if (name === book.second) call.second = runs[name].part("q", 1);
    }
    return runs;
}

// ---- readings

function read(run, reading, runs) {
    return run.once(JSON.stringify(reading), () => newly_read(run, reading, runs));
}

function newly_read(run, {what, ...given}, runs) {
    if (what === "error") return distance_between(run, runs[given.x]);
    const [reader, names] = READERS[what];
    return reader(run, ...names.map(name => given[name]));
}

// Of each place that a drawing has, the values that it is made of.
function drawn({places, run: name, function: f}, call, runs) {
    const run = runs[name];
    if (places === "start") return [f(0, 0, ...call.q0, ...call.par).slice(2)];
    const nodes = Array.from({length: run.length}, (_, k) => [...run.part("q", k)]);
    if (places === "nodes") return nodes.map(q => f(0, 0, ...q, ...call.par).slice(2));
    const leaving = run.p_minus;  // of the step after each node
    return nodes.slice(1, -1).map((q, k) =>
        f(0, 0, ...q, ...run.part("p", k + 1), ...leaving[k + 1], ...call.par).slice(2));
}
const points = (places, {at, count}) =>
    [0, count].map(more => places.flatMap(x => x.slice(at + more, at + more + count)));

// ---- the page

const UNSOLVED = "Newton's method found no ";
const DENSE = 600, PAUSE = 250;  // milliseconds after which a hand rests
const escaped = x => String(x).replace(/[&<>]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[c]);

// As HTML in which a line does not end within 5.9e-04.
const unbroken = html => html.replace(/\d[\d.]*e-\d+/g, '<span class="number">$&</span>');

// Rows of a name, a bar as long as its size beside the others', and a text.
function bars(rows) {
    if (!rows.length) return "";
    const shares = bar_shares(rows.map(([, , size]) => size));
    const row = ([name, text, , [light, dark]], k) => `<div style="--light:${light};--dark:${dark}">`
        + `<span>${escaped(name)} </span><i><b style="width:${(100 * shares[k]).toFixed(1)}%">`
        + `</b></i><span>${escaped(text)}</span></div> `;
    return `<div class="bars">${rows.map(row).join("")}</div>`;
}

// Whether a reader has opened More: the next figure, and the same one loaded again, opens so.  A
// browser may refuse to keep it.
const MORE = "nhlab more";
function remembered() {
    try { return sessionStorage.getItem(MORE) === "open"; } catch { return false; }
}
function remember(open) {
    try { sessionStorage.setItem(MORE, open ? "open" : ""); } catch { /* it opens as at first */ }
}

class Page {
    constructor(books, models) {
        Object.assign(this, {...models, books, reached: {}, widgets: models.controls});
        Object.assign(this, {resting: true, loose: false, pause: null, setting: false, more: remembered()});
        Object.assign(this, {rooms: {}, fittings: 0, fitting: null});
        this.watch_zoom();
        (window.nhlab_pages ??= []).push(this);
        this.open(0);
        this.follow_colours();
    }
    open(k) {  // one of several figures that share the widgets
        const book = this.book = this.books[k]();
        const lists = this.widgets.filter(x => "options" in x);
        const sliders = this.widgets.filter(x => !lists.includes(x));
        this.controls = book.controls.map(({key, values, ...given}) => {
            const widget = (values ? lists : sliders).shift();
            widget.setv({...given, visible: this.more || book.first.includes(key)});
            return widget;
        });
        for (const x of [...lists, ...sliders]) x.visible = false;  // those that are left
        this.caption.text = escaped(book.caption);
        this.defaults = this.values;
        this.shown = this.last = this.still = this.before = this.drawn = null;
        this.listing.text = "";
        this.name_parts();
        if (this.dark !== undefined) this.redraw();
    }
    name_parts() {  // for readers who hear the page
        const element = model => Bokeh.index.find_one(model)?.shadow_el;
        const name = (x, text) => x?.setAttribute("aria-label", text);
        for (const c of this.controls) name(element(c)?.querySelector(".noUi-handle"), c.title);
        for (const figure of this.figures) {
            const host = element(figure)?.host;
            host?.setAttribute("role", "img");
            name(host, this.book.caption || "A diagram of what the sliders say");
        }
        element(this.said)?.host.setAttribute("aria-live", "polite");
    }
    get values() {
        return Object.fromEntries(this.book.controls.map(({key, values}, k) => {
            const value = this.controls[k].value;
            return [key, values ? values[value] : value];
        }));
    }
    set(values) {  // of several controls at once
        this.book.controls.forEach(({key, values: all}, k) => {
            if (!(key in values)) return;
            this.controls[k].value = all ? String(all.indexOf(values[key])) : values[key];
        });
        this.redraw();
    }
    // ---- what may be tried, and the controls under More

    ask() {
        const {book, values, defaults, more} = this, page = `nhlab_pages[${nhlab_pages.indexOf(this)}]`;
        const button = (call, words, kind = "") =>
            `<button class="${kind}" onclick="${page}.${call}">${escaped(words)}</button>`;
        const parts = Object.entries(book.tries).map(([words, x], k) =>
            button(`try_it(${k})`, words, are_same({...defaults, ...x}, values) ? "now" : ""));
        if (parts.length) parts.unshift("<b>Try</b>");
        const {offer} = this;
        if (offer) parts.push(offer[1] ? button("take_offer()", offer[0]) : `<p>${escaped(offer[0])}</p>`);
        if (book.first.length < book.controls.length) {
            parts.push(button("open_more()", more ? "− Less" : "+ More", "more"));
        }
        const html = parts.join(""), root = Bokeh.index.find_one(this.asked)?.shadow_el;
        if (root && html === this.questions) return;
        const at = root ? [...root.querySelectorAll("button")].indexOf(root.activeElement) : -1;
        this.say(this.asked, html);
        this.questions = root ? html : null;
        if (at >= 0) {  // whoever pressed a key stays there
            const buttons = root.querySelectorAll("button");
            buttons[Math.min(at, buttons.length - 1)]?.focus();
        }
    }
    try_it(k) { this.set({...this.defaults, ...Object.values(this.book.tries)[k]}); }
    get offer() {  // [words, values] of another view that answers what was moved, or null
        const {book, values, defaults, still} = this;
        return offered(book.offers[values.view ?? book.views[0].name], values, defaults, still);
    }
    take_offer() { this.set(this.offer[1]); }
    // See whether a slider alone has moved since the last drawing, and no curve has.
    compare() {
        const {book, drawn: now, before, still} = this;
        if (!now || now === before) return;
        this.before = now;
        if (!before || are_same(now.values, before.values)) return;
        const moved = Object.keys(now.values).filter(k => !alike(now.values[k], before.values[k]));
        const moves = view => are_moved(...[now, before].map(x => this.points_of(view, x)));
        this.still = null;
        if (moved.length !== 1 || CHOICES.includes(moved[0]) || moves(this.view)) return;
        const label = book.controls.find(x => x.key === moved[0]).title;
        const [key, words, view] = still?.key === moved[0] ? Object.values(still)
            : found_still(moved[0], label, book.views.filter(moves).map(x => x.name));
        this.still = {key, words, view};
    }
    points_of(view, {call, runs}) {  // of the curves of a view, whether it is shown or not
        return view.axes.flatMap(axes => this.curves_of(axes, runs, this.places(call, runs)))
            .map(({x, y}) => [x, y]);
    }
    open_more() {
        this.more = !this.more;
        remember(this.more);
        this.book.controls.forEach(({key}, k) => {
            this.controls[k].visible = this.more || this.book.first.includes(key);
        });
        this.ask();
        setTimeout(() => this.name_parts());  // of sliders that were not there
    }
    reset() { this.fit_axes(this.defaults); }
    fit_axes(values = {}) { this.forget(); this.last = null; this.set(values); }
    forget() {  // the limits, also those that a reader has chosen
        this.reached = {};
        this.zoomed = new Set();
        this.fit.visible = false;
    }
    watch_zoom() {  // whoever zooms keeps those limits until "Fit axes"
        this.zoomed = new Set();
        for (const figure of this.figures) {
            const note = () => {
                if (this.setting) return;
                this.zoomed.add(figure.id);
                this.fit.visible = true;
            };
            for (const side of ["inner_width", "inner_height"]) {
                figure.properties[side].change.connect(() => this.resized(figure));
            }
            for (const range of [figure.x_range, figure.y_range]) {
                for (const end of ["start", "end"]) range.properties[end].change.connect(note);
            }
        }
    }
    resized(figure) {  // what is to scale was fitted to another room; a few times, until it settles
        const used = this.rooms[figure.id], now = room_of(figure);
        if (!used || this.fittings > 4 || used.every((x, k) => Math.abs(x - now[k]) < 2)) return;
        clearTimeout(this.fitting);
        this.fitting = setTimeout(() => {
            this.fittings += 1;
            this.last = null;
            this.redraw(this.pause === null);
        });
    }
    follow() {  // a slider: while it is dragged, limits keep ahead of it
        const resting = this.pause === null;
        this.fittings = 0;
        clearTimeout(this.pause);
        this.redraw(resting);
        this.pause = setTimeout(() => {
            this.pause = null;
            if (!this.loose) return;
            this.last = null;
            this.redraw();
        }, PAUSE);
    }

    redraw(resting = true) {
        this.resting = resting;
        const values = this.values, views = this.book.views, now = JSON.stringify(values);
        if (this.last === now) return;  // several controls that moved at once call several times
        this.last = now;
        const view = views.find(x => x.name === values.view) ?? views[0];
        const shown = JSON.stringify([view.name, values.system, values.method]);
        const ghost = this.shown === shown ? "" : this.turn_to(view, shown, values);
        if (ghost !== now) this.draw(values, view);
        this.compare();
        if (this.listed) this.list();
        this.ask();
    }
    turn_to(view, shown, values) {  // another view: its untouched setting stays as a pale ghost
        const used = view.axes.map(axes => axes.diagram);
        this.figures.forEach((figure, k) => { figure.visible = used.includes(k); });
        for (const {diagram, xlabel, ylabel} of view.axes) {
            this.figures[diagram].below[0].axis_label = xlabel;
            this.figures[diagram].left[0].axis_label = ylabel;
        }
        this.forget();
        this.name_curves(view);
        const kept = ["system", "method", "view"].filter(k => k in values).map(k => [k, values[k]]);
        const untouched = {...this.defaults, ...Object.fromEntries(kept)};
        this.draw(untouched, view);
        for (const k of used) this.sources[k].forEach(([source, , ghost, mean]) => {
            ghost.data = mean.data.x.length ? mean.data : source.data;  // of a band its mean alone
        });
        this.shown = shown;
        return JSON.stringify(untouched);
    }
    draw(values, view) {  // painted at once: Bokeh by itself would skip every other frame
        const seen = view.axes.map(x => Bokeh.index.find_one(this.figures[x.diagram])).filter(x => x);
        seen.forEach(x => x.pause());
        const html = this.move(values, view);
        seen.forEach(x => { x.unpause(true); x.repaint(); });
        this.say(this.said, html);  // last, since painting asks for styles
        this.move_bodies();
    }
    move(values, view) {  // the curves, without painting them; what is to be said
        const {book} = this;
        let said = [], stop = "";
        this.drawn = null;
        this.loose = false;
        this.leaving = [];
        try {
            const call = new Call(book, values);
            const names = view.runs.filter((_, k) => [undefined, -1, k].includes(values.method));
            this.runs = made(book, call, names);
            const runs = Object.values(this.runs);
            stop = runs.filter(x => x.stop).map(stopped)[0];
            if (book.warns) stop ||= runs.map(x => x.warning).filter(x => x).join("; ");
            this.curves = view.axes.map(axes => this.axes(axes, call));
            this.drawn = {values, runs: this.runs, call};
            said = book.judge ? this.verdict(view) : this.numbers(view);
        } catch (error) {
            stop = error.message;
        }
        stop ||= this.leaving.join(" ");
        const cells = said.filter(x => x.length === 2).map(([a, b]) =>
            `<span>${escaped(a)} <b>${unbroken(escaped(b))}</b></span> `);
        this.words = `<div>${cells.join("")}</div>${bars(said.filter(x => x.length > 2))}`
            + `<div class="stop">${escaped(stop)}</div>`;
        return this.words;
    }
    move_bodies() {  // on the stage of player.js, which is there if a figure has a motion
        const {stage, book: {motion}, runs} = this;
        if (!stage) return;
        if (stage.visible !== Boolean(motion)) stage.visible = Boolean(motion);
        const el = motion && Bokeh.index.find_one(stage)?.shadow_el?.querySelector(".nhlab-stage");
        if (el) window[STAGE_KEY].follow(el, motion.scene, motion.runs.map((name, k) => runs[name] && samples(runs[name], motion.names[k])));
    }
    places(call, runs) { return this.book.drawings.map(x => drawn(x, call, runs)); }
    curves_of(axes, runs, places) {  // with their points and their runs
        return axes.curves.map(curve => {
            const run = runs[curve.run], having = run && !(curve.discrete && !run.method.discrete);
            const [x, y] = curve.reading.what === "drawn" ? points(places[0], curve.reading)
                : having ? read(run, curve.reading, runs) : [[], []];
            const found = {run: having ? run : null, chosen: Boolean(run)};
            return {...curve, ...found, x: x.slice(curve.skip), y: y.slice(curve.skip)};
        });
    }
    axes(axes, call) {  // the curves of one diagram
        const places = this.places(call, this.runs), found = this.curves_of(axes, this.runs, places);
        const curves = found.map((x, k) => ({...x, colours: this.glyphs[axes.diagram][k][1]}));
        curves.forEach(({run, x, y}, k) => {
            const [source, end, , mean] = this.sources[axes.diagram][k], stops = Boolean(run?.stop);
            const band = is_band(x, y);
            source.data = {x, y};
            mean.data = band ? {x: running_mean(x), y: running_mean(y)} : {x: [], y: []};
            if (stops) end.data_source.data = {x: x.slice(-1), y: y.slice(-1)};
            if (end.visible !== stops) end.visible = stops;
            this.thin(this.glyphs[axes.diagram][k], x.length > DENSE, band);
        });
        this.hold(this.figures[axes.diagram], axes, curves, call[axes.end] ?? null);
        if (axes.labels) this.write(axes, places[axes.labels.drawing]);
        return curves;
    }
    // The letters of a drawing, but for those that would stand on others.
    write({diagram, labels}, places) {
        const {x_range, y_range} = this.figures[diagram], room = room_of(this.figures[diagram]);
        const [x, y] = points(places, labels), [right, up] = points(places, labels.aside);
        const taken = [], text = labels.words.slice(0, x.length).map((word, k) => {
            const at = [x[k] / (x_range.end - x_range.start), y[k] / (y_range.end - y_range.start)];
            const [u, v] = [at[0] * room[0] + ASIDE * right[k], at[1] * room[1] + ASIDE * up[k]];
            if (taken.some(([a, b]) => Math.abs(u - a) < 22 && Math.abs(v - b) < 16)) return "";
            taken.push([u, v]);
            return word;
        });
        const data = {x, y, text, right: right.map(x => ASIDE * x), down: up.map(x => -ASIDE * x)};
        this.texts[diagram].data_source.data = data;
    }
    // A hairline is drawn twice as fast, and clearer where dense, if not dashed; a band is pale.
    thin([[line], , width, dash], dense, band) {
        const value = band ? THIN : dense ? Math.min(width, dash.length ? 2 : 1) : width;
        if ("marker" in line) return;
        if (line.line_width.value !== value) line.line_width = {value};
        if (line.line_alpha.value !== (band ? PALE : 1)) line.line_alpha = {value: band ? PALE : 1};
    }
    hold(figure, axes, curves, end) {  // limits for the curves, as far as they can be shown
        const parts = curves.map(curve => this.shown_part(curve, axes, end));
        if (axes.least) parts.push({curve: {}, whole: [], x: [], y: [-axes.least, axes.least]});
        const ends = axes.equal && !axes.x ? this.limits_to_scale(figure, parts) : {};
        for (const side of axes.equal && !axes.x ? [] : ["x", "y"]) {
            const given = axes[side] && !axes.logarithmic;
            ends[side] = given ? axes[side] : this.limits(figure, side, parts, side === "x" ? end : null);
        }
        if (axes.equal) this.rooms[figure.id] = room_of(figure);
        if (axes.equal && axes.x) [ends.x, ends.y] = to_scale([ends.x, ends.y], room_of(figure));
        if (axes.logarithmic) ends.y = ends.y.map(x => Math.pow(10, x));
        parts.forEach(part => this.say_who_leaves(part, axes, ends.y));
        if (this.zoomed.has(figure.id)) return;
        this.setting = true;
        for (const [side, [start, end]] of Object.entries(ends)) {
            const range = figure[`${side}_range`];
            if (range.start !== start || range.end !== end) range.setv({start, end});
        }
        this.setting = false;
    }
    shown_part(curve, axes, end) {
        const k = end === null ? -1 : curve.x.findIndex(x => x > end);
        const log = axes.logarithmic, seen = log ? curve.y.map(u => Math.max(u, axes.y[0])) : curve.y;
        const [x, whole] = [curve.x, seen].map(u => k < 0 ? u : u.slice(0, k));
        const count = calm_points(whole);
        const y = Array.from(whole.slice(0, count), u => log ? Math.log10(u) : u);
        return {curve, whole, times: x, x: x.slice(0, count), y};
    }
    say_who_leaves({curve, whole, times, y}, axes, [low, high]) {
        const k = y.length < whole.length ? whole.findIndex(u => u < low || u > high) : -1;
        if (k < 0) return;
        const name = curve.title || curve.label || this.book.runs[curve.run].label;
        this.leaving.push(who_leaves(name, axes.xlabel.split(" ").at(-1), times[k], largest_of(whole)));
    }
    limits(figure, side, parts, end) {
        const key = figure.id + side, exact = end !== null, old = this.reached[key];
        const ends = exact ? [0, end] : extremes(parts.map(x => x[side]));
        if (!(ends[0] <= ends[1])) return old?.limits ?? [0, 1];
        const how = [ROOM[side], exact, this.resting, false];
        const limits = next_limits(old?.limits ?? null, old?.known ?? null, ...ends, ...how);
        this.reached[key] = {limits, known: ends};
        this.loose ||= exact ? limits[1] !== end : is_loose(limits, ...ends);
        return limits;
    }
    limits_to_scale(figure, parts) {  // both directions at once
        const room = room_of(figure), old = this.reached[figure.id];
        const reach = ["x", "y"].map(k => extremes(parts.map(x => x[k])));
        const before = old ? to_scale(old.limits, room) : null;
        const limits = next_limits_to_scale(before, old?.known ?? null, reach, room, this.resting, false);
        this.reached[figure.id] = {limits, known: reach};
        this.loose ||= limits.every((x, k) => is_loose(x, ...reach[k]));
        const [x, y] = to_scale(limits, room);
        return {x, y};
    }

    // ---- what is said

    say(place, html) {  // past Bokeh, which would lay out the whole page anew
        const element = Bokeh.index.find_one(place)?.shadow_el.querySelector(".bk-clearfix");
        if (element) element.innerHTML = html;
        else place.text = html;
    }
    name_curves(view) {  // the legend, which Bokeh would draw anew with each change of a curve
        const dark = Number(this.dark ?? false), named = view.axes.flatMap(({diagram, curves}) =>
            curves.map((x, k) => [x.label, ...this.glyphs[diagram][k]]).filter(([label]) => label));
        const line = ([label, , colours, width, dash]) =>
            `<span><svg width="34" height="10"><path d="M0 5h34" stroke="${colours[dark]}"
                stroke-width="${width}" stroke-dasharray="${dash}"/></svg> ${escaped(label)}</span> `;
        this.say(this.legend, named.length > 1 ? named.map(line).join("") : "");
        this.legend.visible = named.length > 1;
        this.view = view;
    }

    numbers({readout}) {
        if (!readout.what) return [];
        return this.curves.flat().filter(curve => curve.chosen).map(({title, run, x, y, colours}) => {
            if (!run) return [`${title}:`, `has no ${readout.view}`];
            const what = `${title}: ${readout.what}`;
            if (!y.length) return [what, "-"];
            const number = NUMBERS[readout.number](x, y);
            if (!SIZES.includes(readout.number)) return [what, number];
            const [size, growing] = size_of(y, readout.number);
            return [what, `${number}, ${growth_in_words(size, growing)}`, size, colours];
        });
    }
    verdict(view) {
        const stop = Object.entries(this.runs).find(([, run]) => run.stop);
        if (stop) {
            const [name, {stop: {step, time}}] = stop;
            return [[claim_words(false), stop_words(this.book.runs[name].label, step, time)]];
        }
        const found = Object.entries(view.found).map(([name, readings]) => {
            const run = this.runs[name];
            const drawn = readings.map(([x, skip]) => read(run, x, this.runs)[1].slice(skip));
            const true_ = view.true_run ? this.runs[view.true_run].energy()[0] : 0;
            const y = drawn.length === 1 ? drawn[0] : drawn.flatMap(x => [...x]);
            return [name, {sol: run, y, true: true_}];
        });
        const all = Object.fromEntries(found), [holds, numbers] = this.book.judge(all);
        const errors = Object.entries(view.judged).map(([name, [label, colours]]) => {
            const [size, growing] = error_of(all[name].y, all[name].true);
            return [label, error_in_words(size, growing), size, colours];
        });
        return [[claim_words(holds), numbers], ...errors];
    }

    // ---- the same as code

    code() {
        const {book, values} = this, view = this.view, all = view.runs;
        try {
            const call = new Call(book, values), {h, steps, q0, v0, which, rule} = call;
            const known = {h, steps, alpha: values.alpha, ...call.named};
            q0.forEach((x, k) => { known[`q0.${k}`] = x; });
            v0.forEach((x, k) => { known[`v0.${k}`] = x; });
            const out = all.filter((_, k) => ![undefined, -1, k].includes(values.method));
            const shown = all.filter(x => !out.includes(x)), list = x => `draw([${x.join(", ")}]`;
            const text = (view.code[which][rule] ?? view.code[which][0]).replace(list(all), list(shown));
            return filled(text, known).replace(", )", ")").split("\n").filter(line =>
                line !== "system = system.set()" && !out.some(x => line.startsWith(`${x} = `))).join("\n");
        } catch (error) {
            return `# ${error.message}`;
        }
    }
    list() { this.listing.text = this.listed ? `<pre>${escaped(this.code())}</pre>` : ""; }
    show_code(button) {  // and close it again; it follows the sliders
        this.listed = !this.listed;
        button.label = this.listed ? "Hide the code" : "Show the code";
        this.list();
    }
    async copy(button) {
        const text = this.code(), label = "Copy as code";
        this.listing.text = `<pre>${escaped(text)}</pre>`;
        button.label = await navigator.clipboard?.writeText(text).then(() => "Copied", () => null) ?? "See below";
        setTimeout(() => { button.label = label; }, 2000);
    }

    // ---- colours, which follow those of the text around

    follow_colours() {
        const paint = () => this.paint();
        window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
        const watch = {attributes: true, attributeFilter: ["class", "data-theme", "style"]};
        for (const x of [document.documentElement, document.body]) {
            new MutationObserver(paint).observe(x, watch);
        }
        this.paint();
    }
    paint() {
        const [r, g, b] = getComputedStyle(document.body).color.match(/[\d.]+/g).map(Number);
        const dark = r + g + b > 384, ink = dark ? "#dddddd" : "#222222";
        if (this.dark === dark) return;
        this.dark = dark;
        const grid = dark ? "#444444" : "#e5e5e5";
        for (const figure of this.figures) {
            for (const axis of [...figure.below, ...figure.left]) axis.setv({
                axis_label_text_color: ink, major_label_text_color: ink, axis_line_color: ink,
                major_tick_line_color: ink, minor_tick_line_color: ink});
            for (const x of figure.center) if ("grid_line_color" in x) x.grid_line_color = grid;
        }
        for (const x of this.texts) if (x) x.glyph.text_color = {value: ink};
        if (this.view) this.name_curves(this.view);
        for (const [parts, colours] of this.glyphs.flat()) {
            const value = colours[Number(dark)];
            for (const x of parts) {
                if ("fill_color" in x) x.fill_color = {value};
                x.line_color = {value};
            }
        }
    }
}

// A run as the player takes it: some of its times, as far as all is finite, and the columns of a body.
function samples(run, names) {
    const every = Math.ceil(run.length / 1500), all = names.map(name => name === "t" ? run.t : run.column("q", run.system.q.indexOf(name)));
    const kept = [];
    for (let k = 0; k < run.length && all.every(x => Number.isFinite(x[k])); k++) if (k % every === 0 || k === run.length - 1) kept.push(k);
    const pick = x => Float64Array.from(kept, k => x[k]);
    return kept.length < 2 ? null : {t: pick(run.t), columns: Object.fromEntries(names.map((name, j) => [name, pick(all[j])]))};
}

function extremes(arrays) {  // of what is finite
    let low = Infinity, high = -Infinity;
    for (const x of arrays) for (let k = 0; k < x.length; k++) {
        if (x[k] < low && x[k] > -Infinity) low = x[k];
        if (x[k] > high && x[k] < Infinity) high = x[k];
    }
    return [low, high];
}

// Which of its reasons nhlab would find, by looking closer at the equations, is not known here.
const stopped = ({said, method, stop: {step, time}}) =>
    `${said} stopped after ${step} steps at t = ${py.format(time, ".6g")}: `
    + (method.reference ? "the motion ends here, or becomes too fast to be followed." : UNSOLVED
        + (method.variable ? "step that keeps its energy; perhaps there is none. Start with another h."
            : "next step. Try a smaller h.")
        + " (nh.integrate would try it once more, with pivoting.)");

// The blanks in a text, filled in; what is as it would be without being said is left out.
function filled(text, values) {
    return text.replace(/([^\s(,=]+=)?⌈([^\s⌉]+) ?([^⌉]*)⌉(, )?/g, (_, name = "", key, plain, comma = "") =>
        plain && Number(plain) === values[key] ? ""
            : name + (key === "steps" ? values[key] : py.repr(values[key])) + comma);
}

function room_of(figure) {  // of a diagram, in pixels
    return [figure.inner_width || 600, figure.inner_height || 300];
}
