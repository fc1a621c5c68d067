// The first figure of the site: one robot by DLA and by RK4, computed here.
// No formula of mechanics stands in this file: `robot` has the loops, starts and readings that
// nhlab generates from the system, as nh.live does, and `relative_velocity_scales` is the library's.
const py = {len: x => x.length};
const np = {abs: Math.abs, maximum: Math.max, minimum: Math.min, where: (yes, x, y) => yes ? x : y};
const T = 84, TRUE_STEP = 0.02, SECONDS = 9;  // the true path within 3e-6
const $ = id => document.getElementById(id);
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
const still = matchMedia("(prefers-reduced-motion: reduce)");

// A run with steps h: arrays of positions, headings, velocities on the constraint, and energies.
function integrate(method, h) {
    const {q0, v0, parameters, velocity} = robot, steps = Math.round(T / h);
    const [, , ...begun] = method.begin(0, h, ...q0, ...v0, ...parameters);
    const acceleration = begun.slice(0, 4), p = begun.slice(4), lam = [0, 0];
    const known = {alpha: 0.5};
    relative_velocity_scales(v0, acceleration, h).forEach((x, k) => known[`share.${k}`] = x);
    robot.names.forEach((name, k) => known[`par.${name}`] = parameters[k]);
    const args = method.arguments.map(x => typeof x === "string" ? known[x] : x);
    const state = method.discrete ? [...q0, ...p, ...v0, ...lam] : [...q0, ...v0, ...lam];
    const rows = [...state], width = state.length;
    method.loop(state, rows, 0, steps, 1, 0, h, ...args);
    const run = {h, x: [], y: [], heading: [], vx: [], vy: [], E: []};
    for (let k = 0; k < rows.length; k += width) {
        const q = rows.slice(k, k + 4), moved = rows.slice(k + 4, k + 8);
        const [, , E, , , ...v] = method.discrete
            ? robot.of_p(0, 0, ...q, ...moved, ...rows.slice(k + 8, k + 12), ...parameters)
            : robot.of_v(0, 0, ...q, ...moved, ...parameters);
        const [, , vx, vy] = velocity(0, 0, ...q, ...(v.length ? v : moved), ...parameters);
        run.x.push(q[0]); run.y.push(q[1]); run.heading.push(q[2]);
        run.vx.push(vx); run.vy.push(vy); run.E.push(E);
    }
    return run;
}

// The path between the nodes: cubics with the velocities that the nodes have.
function path(run) {
    const {h, x, y, vx, vy} = run, parts = Math.max(1, Math.round(h / 0.05)), points = [];
    const at = (a, b, c, d, s) => (2*s*s*s - 3*s*s + 1) * a + (s*s*s - 2*s*s + s) * h * b
        + (3*s*s - 2*s*s*s) * c + (s*s*s - s*s) * h * d;
    for (let k = 0; k + 1 < x.length; k++)
        for (let j = 0; j < parts; j++)
            points.push([at(x[k], vx[k], x[k + 1], vx[k + 1], j / parts),
                         at(y[k], vy[k], y[k + 1], vy[k + 1], j / parts)]);
    points.push([x.at(-1), y.at(-1)]);
    return points;
}

const exact_run = integrate(robot.rk4, TRUE_STEP), exact = path(exact_run);
const start_energy = exact_run.E[0];
const middle = [0, 1].map(k => {
    const values = exact.map(point => point[k]);
    return (Math.min(...values) + Math.max(...values)) / 2;
});
const radius = Math.max(...exact.map(([x, y]) => Math.hypot(x - middle[0], y - middle[1])));
const runs = {};
let shown = 1, frame = 0;  // the part of the time that is drawn, and the request of the next frame

function compute() {
    const h = Number($("h").value);
    for (const name of ["dla", "rk4"]) {
        const run = runs[name] = integrate(robot[name], h);
        run.path = path(run);
    }
    $("h_shown").textContent = h.toFixed(2);
    $("h").setAttribute("aria-valuetext", `step ${h.toFixed(2)}`);
}

// ---- what is drawn

function cleared(canvas) {
    const dense = Math.min(devicePixelRatio || 1, 2), {clientWidth: w, clientHeight: h} = canvas;
    [canvas.width, canvas.height] = [Math.round(w * dense), Math.round(h * dense)];
    const g = canvas.getContext("2d");
    g.scale(dense, dense);
    g.lineJoin = g.lineCap = "round";
    return [g, w, h];
}

function line(g, points, style, width) {
    g.strokeStyle = style;
    g.lineWidth = width;
    g.beginPath();
    points.forEach(([x, y], k) => k ? g.lineTo(x, y) : g.moveTo(x, y));
    g.stroke();
}

function disc(g, x, y, r, style) {
    g.beginPath();
    g.arc(x, y, r, 0, 7);
    g.fillStyle = style;
    g.fill();
}

function draw_star(name) {
    const [g, w, h] = cleared($(`star_${name}`)), run = runs[name], large = w > 250;
    const scale = Math.min(w, h) / 2 / (1.1 * radius);
    const place = ([x, y]) => [w/2 + (x - middle[0]) * scale, h/2 - (y - middle[1]) * scale];
    disc(g, w/2, h/2, radius * scale, colour("sunk"));  // the size of the true star
    const until = points => Math.max(1, Math.floor((points.length - 1) * shown)) + 1;
    line(g, exact.slice(0, until(exact)).map(place), colour("true"), large ? 1.1 : 0.9);
    const last = until(run.path) - 1;
    line(g, run.path.slice(0, last + 1).map(place), colour(name), large ? 1.9 : 1.3);
    const node = Math.floor(last / (run.path.length - 1) * (run.x.length - 1));
    draw_robot(g, ...place(run.path[last]), large ? 17 : 12, run.heading[node], name);
}

function draw_robot(g, x, y, r, heading, name) {  // a round body on three wheels, seen from above
    disc(g, x, y, r, colour("card"));
    g.strokeStyle = colour("ink");
    g.lineWidth = 1.8;
    g.stroke();
    for (let j = 0; j < 3; j++) {
        const angle = 2 * Math.PI * j / 3;
        g.save();
        g.translate(x + 0.7 * r * Math.cos(angle), y - 0.7 * r * Math.sin(angle));
        g.rotate(-heading);  // all wheels point the way the robot rolls
        g.fillStyle = colour("ink");
        g.fillRect(-0.3 * r, -0.12 * r, 0.6 * r, 0.24 * r);
        g.restore();
    }
    disc(g, x, y, 0.18 * r, colour(name));
}

function draw_energy() {
    const [g, w, h] = cleared($("energy")), names = ["dla", "rk4"];
    const [left, right, top, bottom] = [40, w - (w > 500 ? 44 : 8), 20, h - 20];
    const all = names.flatMap(name => runs[name].E), least = Math.min(...all), most = Math.max(...all);
    const X = t => left + (right - left) * t / T;
    const Y = E => bottom - (bottom - top) * (E - least) / (most - least || 1);
    const write = (text, x, y, style, align) => {
        g.fillStyle = style;
        g.textAlign = align;
        g.fillText(text, x, y);
    };
    g.font = `12px ${colour("sans")}`;
    g.textBaseline = "middle";
    const soft = colour("soft"), digits = most - least > 1 ? 1 : most - least > 0.1 ? 2 : 3;
    write("energy", left, 8, soft, "left");
    write("0", left, h - 8, soft, "center");
    write(`time ${T} s`, right, h - 8, soft, "right");
    const marks = [least, most, start_energy].filter(
        (E, k, others) => others.slice(k + 1).every(other => Math.abs(Y(E) - Y(other)) > 13));
    for (const E of marks) write(E.toFixed(digits), left - 6, Y(E), soft, "right");
    line(g, [[left, bottom + 0.5], [right, bottom + 0.5]], colour("line"), 1);
    line(g, [[left, Y(start_energy)], [right, Y(start_energy)]], colour("true"), 1.3);
    const ends = names.map(name => {
        const {E, h: step} = runs[name], last = Math.max(1, Math.floor((E.length - 1) * shown));
        const points = E.slice(0, last + 1).map((y, k) => [X(k * step), Y(y)]);
        line(g, points, colour(name), name === "dla" ? 1.5 : 2.1);
        return points.at(-1);
    });
    ends.forEach(([x, y], k) => disc(g, x, y, 3.2, colour(names[k])));
    if (w <= 500) return;  // the colours are named above the stars
    const upper = ends[0][1] <= ends[1][1] ? 0 : 1, apart = ends[1 - upper][1] - ends[upper][1];
    const raise = Math.max(0, 14 - apart) / 2;
    g.font = `600 12px ${colour("sans")}`;
    names.forEach((name, k) => write(name.toUpperCase(), right + 8,
        ends[k][1] + (k === upper ? -raise : raise), colour(name), "left"));
}

// ---- what is said

const worst = E => E.reduce((most, x) => Math.max(most, Math.abs(x - start_energy)), 0);
const short = x => x < 0.0995 ? Number(x.toPrecision(2)).toString() : x.toFixed(2);

function say() {
    const off = {}, so_far = E => E.slice(0, Math.max(1, Math.floor((E.length - 1) * shown)) + 1);
    for (const name of ["dla", "rk4"]) {
        off[name] = worst(so_far(runs[name].E));
        $(`off_${name}`).textContent = short(off[name]);
    }
    const E = so_far(runs.rk4.E), lost = start_energy - E.at(-1);
    const percent = Math.round(100 * lost / start_energy), ratio = off.dla / off.rk4;
    if (shown < 1) {
        const time = Math.round((E.length - 1) * runs.rk4.h);
        $("verdict").textContent = `After ${time} of ${T} seconds RK4 has lost `
            + `${Math.max(0, percent)} % of its energy. The disc is the size of the true star.`;
    } else if (off.rk4 > off.dla) {
        $("verdict").innerHTML = lost > 0
            ? `<b>RK4 has lost ${percent} % of its energy</b>, and its star shrinks. DLA’s energy `
                + "swings in a band that does not widen: its star keeps its size."
            : "<b>RK4 gains energy.</b> DLA’s energy swings in a band that does not widen.";
    } else {
        const times = ratio >= 1.5 ? `${ratio.toPrecision(2) * 1} times smaller` : "smaller";
        $("verdict").innerHTML = `<b>At this small step RK4 is the better one</b>: its error is `
            + `${times}, though it grows with time. Now make <i>h</i> larger.`;
    }
}

function draw() {
    draw_star("dla");
    draw_star("rk4");
    draw_energy();
    say();
}

function stop() {
    clearTimeout(film);
    cancelAnimationFrame(frame);
    shown = 1;
    $("verdict").setAttribute("aria-live", "polite");
    draw();
}

function play() {
    if (still.matches) return stop();
    cancelAnimationFrame(frame);
    $("verdict").setAttribute("aria-live", "off");  // else every frame would be read aloud
    const begun = performance.now();
    const next = now => {
        shown = Math.max(0, (now - begun) / (1000 * SECONDS));
        if (shown >= 1) return stop();
        draw();
        frame = requestAnimationFrame(next);
    };
    frame = requestAnimationFrame(next);
}

$("h").oninput = () => { compute(); stop(); };
$("again").onclick = play;
$("theme").onclick = () => {
    set_theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    draw();
};
prefers_dark.onchange = () => { set_theme(stored()); draw(); };
addEventListener("resize", draw);
compute();
draw();
const film = setTimeout(play, 500);  // the page is painted first, with the whole star
