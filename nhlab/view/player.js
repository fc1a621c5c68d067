// The player of nhlab's stage: bodies in WebGL 2, without libraries and without network.
//
// mount(element, bytes) replaces the still in an element by a scene (stage.py) that plays.  All stages
// of a page share one WebGL context, since browsers allow only a few; each has 2D canvases of its own
// and is drawn only when something has changed.  The version is part of the global name, so that
// outputs of different versions can stand on one page.
//
// Other runs reach a stage that stands already by stage.take(runs, times), computed in the page, or
// by deliver(element, text), a scene that Python has packed for it.
(() => {
"use strict";
const KEY = "nhlab_stage_3";
if (globalThis[KEY]) return;

// ---------------------------------------------------------------------------- vectors and matrices
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const n = Math.max(Math.hypot(...a), 1e-12); return a.map(x => x / n); };
const multiply = (a, b) => {
    const out = new Float32Array(16);
    for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
        let s = 0;
        for (let k = 0; k < 4; k++) s += a[4 * k + r] * b[4 * c + k];
        out[4 * c + r] = s;
    }
    return out;
};
const look = (eye, at) => {
    const z = unit(sub(eye, at)), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
    return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0,
        -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
};
const TAN = Math.tan(0.27);  // of half the angle of view
const perspective = (aspect, near, far) => new Float32Array([1 / (TAN * aspect), 0, 0, 0, 0, 1 / TAN, 0, 0,
    0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]);
const orthographic = (r, near, far) => new Float32Array([1 / r, 0, 0, 0, 0, 1 / r, 0, 0,
    0, 0, -2 / (far - near), 0, 0, 0, -(far + near) / (far - near), 1]);
const inverse = m => {  // of an orthographic view
    const out = new Float32Array(16), n = [0, 1, 2].map(i => m[i] ** 2 + m[4 + i] ** 2 + m[8 + i] ** 2);
    for (let i = 0; i < 3; i++) for (let k = 0; k < 3; k++) out[4 * i + k] = m[4 * k + i] / n[i];
    for (let k = 0; k < 3; k++) out[12 + k] = -(out[k] * m[12] + out[4 + k] * m[13] + out[8 + k] * m[14]);
    out[15] = 1;
    return out;
};

// ---------------------------------------------------------------------------- data
async function inflate(text) {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Columns are second differences of whole numbers, their bytes sorted by significance.
function numbers(bytes, [offset, step, place, count]) {
    const out = new Float64Array(count);
    let first = 0, value = 0;
    for (let i = 0; i < count; i++) {
        const at = place + i, d = bytes[at] | bytes[at + count] << 8 | bytes[at + 2 * count] << 16 | bytes[at + 3 * count] << 24;
        first = first + d | 0;
        value = value + first | 0;
        out[i] = offset + step * value;
    }
    return out;
}

function unpack(bytes) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), data = bytes.subarray(4 + length);
    for (const a of head.actors) {
        a.t = numbers(data, a.t);
        for (const name in a.columns) a.columns[name] = numbers(data, a.columns[name]);
        if (a.reading) a.reading = a.reading.map(x => numbers(data, x));
        roll(a, head.models[a.model]);
    }
    return head;
}

// ---------------------------------------------------------------------------- frames
// Which interval of increasing times holds t, and the part of it before t.
function interval(times, t) {
    let low = 0, high = times.length - 1;
    while (high - low > 1) { const k = low + high >> 1; if (times[k] <= t) low = k; else high = k; }
    return [low, Math.min(1, Math.max(0, (t - times[low]) / (times[low + 1] - times[low])))];
}

// The columns of an actor at a time: straight between samples, quaternions along the sphere.
function columns(actor, model, t) {
    const [k, u] = interval(actor.t, t), at = {};
    for (const name in actor.columns) { const x = actor.columns[name]; at[name] = (1 - u) * x[k] + u * x[k + 1]; }
    for (const names of model.rotations) {
        const [a, b] = [k, k + 1].map(i => { const q = names.map(n => actor.columns[n][i]), l = Math.hypot(...q); return q.map(x => x / l); });
        let c = a.reduce((s, x, i) => s + x * b[i], 0);
        const sign = c < 0 ? -1 : 1, angle = Math.acos(Math.min(1, c * sign)), s = Math.sin(angle);
        const [p, r] = s < 1e-7 ? [1 - u, u] : [Math.sin((1 - u) * angle) / s, Math.sin(u * angle) / s];
        names.forEach((n, i) => at[n] = p * a[i] + sign * r * b[i]);
    }
    return at;
}

const turned = (m, u, v, angle) => {
    const c = Math.cos(angle), s = Math.sin(angle);
    for (let i = 0; i < 3; i++) {
        const x = m[4 * u + i], y = m[4 * v + i];
        m[4 * u + i] = c * x + s * y;
        m[4 * v + i] = c * y - s * x;
    }
};

const OPERATIONS = {
    "+": (...x) => x.reduce((a, b) => a + b), "*": (...x) => x.reduce((a, b) => a * b), "-": (a, b) => a - b, "/": (a, b) => a / b,
    power: Math.pow, sin: Math.sin, cos: Math.cos, exp: Math.exp, atan2: Math.atan2, sqrt: Math.sqrt,
};

// The 4 x 4 matrices, column by column, of the world and of all frames of a model.
function poses(model, at, out = new Float64Array(16 * (model.frames.length + 1))) {
    const value = x => typeof x === "number" ? x : typeof x === "string" ? x[0] === "-" ? -at[x.slice(1)] : at[x] : OPERATIONS[x[0]](...x.slice(1).map(value));
    out.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    model.frames.forEach(([parent, steps], j) => {
        const m = [...out.subarray(16 * parent, 16 * parent + 16)];
        for (const [kind, ...given] of steps) {
            if (kind === "turn") { turned(m, (given[0] + 1) % 3, (given[0] + 2) % 3, value(given[1])); continue; }
            const x = given[0].map(value);
            if (kind === "move") for (let i = 0; i < 3; i++) m[12 + i] += m[i] * x[0] + m[4 + i] * x[1] + m[8 + i] * x[2];
            else if (kind === "stretch") for (let k = 0; k < 3; k++) for (let i = 0; i < 3; i++) m[4 * k + i] *= x[k];
            else {
                const n = Math.hypot(...x), [w, a, b, c] = x.map(y => y / n), o = m.slice(0, 12);
                const R = [[1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b)],
                    [2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a)],
                    [2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a * a + b * b)]];
                for (let k = 0; k < 3; k++) for (let i = 0; i < 3; i++) m[4 * k + i] = R[k][0] * o[i] + R[k][1] * o[4 + i] + R[k][2] * o[8 + i];
            }
        }
        out.set(m, 16 * (j + 1));
    });
    return out;
}

const point = (m, [frame, p]) => [0, 1, 2].map(i => m[16 * frame + i] * p[0] + m[16 * frame + 4 + i] * p[1] + m[16 * frame + 8 + i] * p[2] + m[16 * frame + 12 + i]);

// Call visit(k, matrices of all frames) at all samples of an actor.
function visit_samples(actor, model, visit) {
    const out = new Float64Array(16 * (model.frames.length + 1)), at = {};
    for (let k = 0; k < actor.t.length; k++) {
        for (const name in actor.columns) at[name] = actor.columns[name][k];
        visit(k, poses(model, at, out));
    }
}

// The angles by which wheels have rolled (Model.rolled in stage.py), as columns of an actor.
function roll(actor, model) {
    if (!model.rolls?.length) return;
    const angles = model.rolls.map(([name]) => actor.columns[name] = new Float64Array(actor.t.length));
    let before;
    visit_samples(actor, model, (k, m) => {
        const now = model.rolls.map(([, frame, p]) => [point(m, [frame, p]), [...m.subarray(16 * frame, 16 * frame + 3)]]);
        if (k) now.forEach(([place, ahead], i) => {
            const [last, was] = before[i], along = unit(ahead.map((x, j) => x + was[j]));
            angles[i][k] = angles[i][k - 1] + dot(sub(place, last), along) / model.rolls[i][3];
        });
        before = now;
    });
}

// Right, up and back of a camera with this azimuth and elevation.
const directions = ([az, el]) => {
    const back = [Math.cos(el) * Math.cos(az), Math.cos(el) * Math.sin(az), Math.sin(el)], right = [-Math.sin(az), Math.cos(az), 0];
    return [right, cross(back, right), back];
};

// The camera in a direction that sees all points (View.fitted in stage.py): [focus, distance].
function fitted(points, direction, aspect, room = 1.12) {
    const [right, up, back] = directions(direction);
    const ends = [0, 1, 2].map(i => points.reduce(([a, b], p) => [Math.min(a, p[i]), Math.max(b, p[i])], [Infinity, -Infinity]));
    let focus = ends.map(([a, b]) => (a + b) / 2), d = 0;
    for (let turn = 0; turn < 6; turn++) {
        const seen = points.map(p => { const r = sub(p, focus); return [dot(r, right), dot(r, up), dot(r, back)]; });
        d = seen.reduce((most, [x, y, z]) => Math.max(most, Math.abs(x) / (TAN * aspect) * room + z, Math.abs(y) / TAN * room + z), -Infinity);
        const shift = [0, 1].map(i => { let low = Infinity, high = -Infinity; for (const p of seen) { const s = p[i] / (d - p[2]); low = Math.min(low, s); high = Math.max(high, s); } return (low + high) / 2 * d; });
        focus = focus.map((x, i) => x + shift[0] * right[i] + shift[1] * up[i]);
    }
    return [focus, d];
}

// ---------------------------------------------------------------------------- shapes (as shapes.py)
const CREASE = Math.cos(40 * Math.PI / 180);
const basis = axis => {
    const z = unit(axis), start = Math.abs(z[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], d = dot(start, z);
    const x = unit(start.map((s, i) => s - d * z[i]));
    return [x, cross(z, x), z];
};
const into = (B, p, at = [0, 0, 0]) => [0, 1, 2].map(i => at[i] + p[0] * B[0][i] + p[1] * B[1][i] + p[2] * B[2][i]);
const same = (a, b) => a.every((x, i) => Math.abs(x - b[i]) <= 1e-8 + 1e-5 * Math.abs(b[i]));

// Each maker calls quad(four points, four normals, second colour?).
const MAKERS = {
    lathe({profile: p, n, at, axis, scale, sectors, bands}, quad) {
        const k = p.length - 1, B = basis(axis), closed = same(p[0], p[k]);
        const normal = Array.from({length: k}, (_, i) => { const d = [p[i + 1][1] - p[i][1], p[i][0] - p[i + 1][0]], l = Math.max(Math.hypot(...d), 1e-12); return [d[0] / l, d[1] / l]; });
        const end = (i, j) => {
            if (!(j >= 0 && j < k || closed)) return normal[i];
            const m = normal[(j + k) % k], o = normal[i];
            return m[0] * o[0] + m[1] * o[1] > CREASE ? unit([m[0] + o[0], m[1] + o[1], 0]) : o;
        };
        const ring = Array.from({length: n + 1}, (_, i) => [Math.cos(2 * Math.PI * i / n), Math.sin(2 * Math.PI * i / n)]);
        for (let i = 0; i < k; i++) {
            const ends = [end(i, i - 1), end(i, i + 1)];
            for (let j = 0; j < n; j++) {
                const corners = [[0, 0], [0, 1], [1, 1], [1, 0]].map(([side, turn]) => {
                    const [c, s] = ring[j + turn], [r, z] = p[i + side], e = ends[side];
                    return [into(B, [r * c * scale[0], r * s * scale[1], z * scale[2]], at),
                        into(B, unit([e[0] * c / scale[0], e[0] * s / scale[1], e[1] / scale[2]]))];
                });
                const second = (Math.floor(2 * sectors * j / n) + Math.floor(bands * i / k)) % 2 === 1;
                quad(corners.map(x => x[0]), corners.map(x => x[1]), second);
            }
        }
    },
    prism({outline: o, low, high, bevel, at, axis, caps}, quad) {
        const m = o.length, B = basis(axis), unit2 = v => { const l = Math.max(Math.hypot(...v), 1e-12); return [v[0] / l, v[1] / l]; };
        const side = o.map((p, i) => { const q = o[(i + 1) % m], e = unit2([q[0] - p[0], q[1] - p[1]]); return [e[1], -e[0]]; });
        const mean = side.map((s, i) => { const b = side[(i + m - 1) % m]; return unit2([s[0] + b[0], s[1] + b[1]]); });
        const inset = o.map((p, i) => { const w = bevel / Math.max(mean[i][0] * side[i][0] + mean[i][1] * side[i][1], 0.3); return [p[0] - w * mean[i][0], p[1] - w * mean[i][1]]; });
        const smooth = side.map((s, i) => { const b = side[(i + m - 1) % m]; return s[0] * b[0] + s[1] * b[1] > CREASE; });
        const rings = [[inset, low], [o, low + bevel], [o, high - bevel], [inset, high]];
        for (const [k, slant] of bevel ? [[0, -1], [1, 0], [2, 1]] : [[1, 0]]) {
            const [[a, za], [b, zb]] = [rings[k], rings[k + 1]];
            for (let i = 0; i < m; i++) {
                const j = (i + 1) % m, f = smooth[i] ? mean[i] : side[i], l = smooth[j] ? mean[j] : side[i];
                const N = [f, l, l, f].map(v => into(B, unit([...v, slant])));
                quad([[...a[i], za], [...a[j], za], [...b[j], zb], [...b[i], zb]].map(p => into(B, p, at)), N, false);
            }
        }
        for (const [[ring, z], up] of [[rings[0], -1], [rings[3], 1]]) for (let i = 0; i < caps.length; i += 3) {
            const P = [0, 1, 2, 2].map(k => into(B, [...ring[caps[i + k]], z], at)), N = into(B, [0, 0, up]);
            quad(P, [N, N, N, N], up > 0);
        }
    },
    sweep({points, radius: r, n, closed}, quad) {
        const p = closed ? [...points, points[0]] : points, k = p.length;
        const steps = p.slice(1).map((x, i) => unit(sub(x, p[i])));
        const tangents = p.map((_, i) => { const a = steps[i ? i - 1 : closed ? k - 2 : 0], b = steps[i < k - 1 ? i : closed ? 0 : k - 2]; return unit(a.map((x, j) => x + b[j])); });
        let x = basis(tangents[0])[0];
        const rings = tangents.map(t => {
            const d = dot(x, t);
            x = unit(x.map((v, i) => v - d * t[i]));
            const y = cross(t, x);
            return Array.from({length: n + 1}, (_, j) => { const a = 2 * Math.PI * j / n; return x.map((v, i) => Math.cos(a) * v + Math.sin(a) * y[i]); });
        });
        const place = (i, j) => p[i].map((v, l) => v + r * rings[i][j][l]);
        for (let i = 0; i < k - 1; i++) for (let j = 0; j < n; j++)
            quad([place(i, j), place(i, j + 1), place(i + 1, j + 1), place(i + 1, j)], [rings[i][j], rings[i][j + 1], rings[i + 1][j + 1], rings[i + 1][j]], false);
        if (!closed) for (const [i, t] of [[0, tangents[0].map(v => -v)], [k - 1, tangents[k - 1]]])
            for (let j = 0; j < n; j++) quad([p[i], place(i, j), place(i, j + 1), place(i, j + 1)], [t, t, t, t], false);
    },
};

// Vertices of parts: place, normal, frame, gloss as floats, then colour and "has the actor's colour".
function mesh(parts) {
    const floats = [], colours = [];
    for (const [frame, shape] of parts) {
        const paint = [shape.colour, shape.second ?? shape.colour].map(c => c === "actor" ? [128, 128, 128, 255] : [...[1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16)), 0]);
        MAKERS[shape.kind](shape, (P, N, second) => {
            for (let i = 0; i < 4; i++) { floats.push(...P[i], ...N[i], frame, shape.gloss); colours.push(...paint[+second]); }
        });
    }
    return {floats, colours, quads: floats.length / 32};
}

// ---------------------------------------------------------------------------- shaders
const FRAMES = 40;
const CLOSE = 1.8;  // how many times farther than the camera that follows a body a still is taken at most
const HIDDEN = 0.4;  // how strong the part of a path is that lies behind a body
const SUN = unit([-0.45, -0.55, 1.1]);
const THEMES = {
    light: {haze: "#FBFAF8", sun: 2.45, air: [0.62, 0.66, 0.74], bounce: [0.36, 0.34, 0.31], shade: 0.62,
        floors: {tiles: ["#E6E4DE", "#B9B5AA"], ice: ["#DDE9F1", "#AFC6D6"], snow: ["#EDF1F5", "#BFCEDC"]}},
    dark: {haze: "#191C22", sun: 2.1, air: [0.34, 0.40, 0.50], bounce: [0.13, 0.13, 0.14], shade: 0.75,
        floors: {tiles: ["#2A2F37", "#4A525E"], ice: ["#263440", "#45617A"], snow: ["#323B46", "#55626F"]}},
};
const linear = c => [1, 3, 5].map(i => (parseInt(c.slice(i, i + 2), 16) / 255) ** 2.2);
const HEAD = `#version 300 es
precision highp float; precision highp int; precision highp sampler2DShadow;
uniform mat4 view, sunview, sunback; uniform vec3 eye, sun, air, bounce, haze, focus, ground, right, ahead;
uniform float sunlight, reach, shade, size;
float height(vec3 p) { return dot(p - ground, cross(right, ahead)); }
vec3 show(vec3 c) { c = c * (1. + c / 6.) / (1. + c); return pow(clamp(c * 1.22, 0., 1.), vec3(1. / 2.2)); }
`;
const PLACED = `uniform mat4 frames[${FRAMES}]; uniform float push; invariant gl_Position;
vec4 placed(vec3 p, mat4 m) {
    vec4 w = m * vec4(p, 1.); gl_Position = view * w;
    vec4 f = view * vec4(w.xyz + push * normalize(w.xyz - eye), 1.); gl_Position.z = f.z / f.w * gl_Position.w;
    return w;
}
`;
const SHADERS = {
    body: [`in vec3 place, normal; in vec2 mark; in vec4 colour; uniform vec3 ink; out vec3 p, n, c; out float g;
${PLACED}
void main() {
    mat4 m = frames[int(mark.x)]; p = placed(place, m).xyz; g = mark.y;
    vec3 s = vec3(dot(m[0].xyz, m[0].xyz), dot(m[1].xyz, m[1].xyz), dot(m[2].xyz, m[2].xyz));
    n = mat3(m) * (normal / max(s, vec3(1e-9))); c = mix(pow(colour.rgb, vec3(2.2)), ink, colour.a);
}`,
    `uniform sampler2DShadow depth; in vec3 p, n, c; in float g; out vec4 o; uniform vec4 tint; uniform float ghost;
void main() {
    vec3 N = normalize(n), V = normalize(eye - p), H = normalize(V + sun);
    if (dot(N, V) < 0.) N = -N;
    vec3 base = mix(c, tint.rgb, tint.a), u = (sunview * vec4(p + N * .008 * size, 1.)).xyz * .5 + .5;
    float nl = max(dot(N, sun), 0.), s = nl > 0. ? texture(depth, vec3(u.xy, u.z - .003)) : 0.;
    float rough = mix(.65, .14, g), power = 2. / (rough * rough * rough), nh = max(dot(N, H), 0.);
    float F = .04 + .96 * pow(1. - max(dot(N, V), 0.), 5.);
    vec3 sky = mix(bounce, air, N.z * .5 + .5) * mix(.55, 1., smoothstep(0., .3 * size, height(p)));
    vec3 R = reflect(-V, N); float box = smoothstep(.35, .75, R.z) * (.5 + .5 * smoothstep(-.4, .4, R.x - R.y));
    vec3 light = base * (sky + sunlight * nl * s) + s * nl * sunlight * g * pow(nh, power) * .9
        + F * g * (box * 1.1 * air + .25 * bounce) * 1.6 + g * .10 * box;
    if (ghost > 0.) { float rim = pow(1. - abs(dot(N, V)), 1.4); o = vec4(show(mix(base, light, .45)), ghost * (.42 + .58 * rim)); return; }
    o = vec4(show(mix(light, haze, smoothstep(reach * .75, reach * 1.25, distance(p.xy, focus.xy)))), 1.);
}`],
    depth: [`in vec3 place; in vec2 mark; ${PLACED} void main() { placed(place, frames[int(mark.x)]); }`,
    `out vec4 o; void main() { o = vec4(0.); }`],
    floor: [`in vec2 corner; out vec2 p; uniform float wide;
void main() { vec2 c = vec2(dot(focus - ground, right), dot(focus - ground, ahead)); p = c + corner * wide; gl_Position = view * vec4(ground + p.x * right + p.y * ahead, 1.); }`,
    `in vec2 p; out vec4 o; uniform vec3 plain, line; uniform float cell; uniform sampler2D soft;
float grid(float c, float width) {
    vec2 u = p / c, d = fwidth(u), a = abs(fract(u - .5) - .5) / max(d, vec2(1e-5));
    return (1. - smoothstep(width - .5, width + .5, min(a.x, a.y))) * (1. - smoothstep(.08, .5, max(d.x, d.y)));
}
void main() {
    vec3 q = ground + p.x * right + p.y * ahead; vec2 s = (sunview * vec4(q, 1.)).xy * .5 + .5;
    float g = max(.85 * grid(cell, .9), .30 * grid(cell / 5., .6));
    vec3 c = mix(plain, line, g * .65) * mix(1., 1. - shade, texture(soft, s).r), V = normalize(eye - q);
    c += .05 * pow(1. - abs(dot(V, cross(right, ahead))), 4.) * air;
    o = vec4(pow(mix(c, haze, smoothstep(reach * .25, reach * 1.05, distance(q.xy, focus.xy))), vec3(1. / 2.2)), 1.);
}`],
    // A shadow is the softer, the higher its caster: r is the shade, g the height times the shade.
    blur: [`in vec2 corner; out vec2 u; void main() { u = corner * .5 + .5; gl_Position = vec4(corner, 0., 1.); }`,
    `in vec2 u; out vec4 o; uniform sampler2D source; uniform vec2 step; uniform float first, room;
void main() {
    float sum = 0., high = 0.;
    for (int k = -6; k <= 6; k++) {
        vec2 v = u + float(k) * step; vec4 x = texture(source, v); float m, h;
        if (first > .5) { m = x.r < .9999 ? 1. : 0.; h = clamp(height((sunback * vec4(v * 2. - 1., x.r * 2. - 1., 1.)).xyz) / room, 0., 1.); }
        else { m = x.r; h = x.r > 0. ? x.g / x.r : 0.; }
        float r = 1. + 6.5 * h, w = exp(-float(k * k) / (r * r)) / r; sum += m * w; high += m * h * w;
    }
    o = vec4(min(sum / 1.7725, 1.), min(high / 1.7725, 1.), 0., 1.);
}`],
    trail: [`in vec4 a, b; in vec2 corner; uniform vec2 pixels; uniform float width, now, lift, rank; out float t, side;
void main() {
    vec3 up = lift * cross(right, ahead); float nearer = .004 * rank;
    vec4 A = view * vec4(mix(a.xyz + up, eye, nearer), 1.), B = view * vec4(mix(b.xyz + up, eye, nearer), 1.);
    float near = .02 * size; if (A.w < near) A = mix(A, B, (near - A.w) / (B.w - A.w)); if (B.w < near) B = mix(B, A, (near - B.w) / (A.w - B.w));
    float part = b.w > now ? clamp((now - a.w) / max(b.w - a.w, 1e-6), 0., 1.) : 1.; B = mix(A, B, part);
    vec2 u = (B.xy / B.w - A.xy / A.w) * pixels; float L = length(u); u = L > 1e-4 ? u / L : vec2(1., 0.);
    vec4 P = corner.x < .5 ? A : B; P.xy += (vec2(-u.y, u.x) * corner.y * (width + 1.) + u * (corner.x - .5)) / pixels * P.w;
    if (a.w > now) P = vec4(2., 2., 2., 1.);
    t = mix(a.w, min(b.w, now), corner.x); side = corner.y * (width + 1.); gl_Position = P;
}`,
    `in float t, side; out vec4 o; uniform vec3 ink; uniform float now, span, width, alpha, dash;
void main() {
    if (dash > 0. && fract(t / dash) > .6) discard;
    o = vec4(ink, alpha * (1. - smoothstep(width - .5, width + .5, abs(side))) * mix(.34, 1., exp(-(now - t) / span)));
}`],
};
const ATTRIBUTES = ["place", "normal", "mark", "colour", "corner", "a", "b"];

// ---------------------------------------------------------------------------- the renderer of a page
class Renderer {
    constructor() {
        this.canvas = document.createElement("canvas");
        this.gl = this.canvas.getContext("webgl2", {antialias: true, alpha: false, powerPreference: "high-performance"});
        if (!this.gl) throw Error("no WebGL 2");
        this.canvas.addEventListener("webglcontextlost", e => { e.preventDefault(); this.lost = true; for (const s of shared.stages) s.lose(); });
        this.canvas.addEventListener("webglcontextrestored", () => { this.lost = false; this.build(); for (const s of shared.stages) s.restore(); });
        this.build();
    }
    build() {
        const gl = this.gl;
        this.programs = {};
        for (const [name, [vertex, fragment]] of Object.entries(SHADERS)) this.programs[name] = this.program(name, vertex, fragment);
        this.side = 512;
        const smooth = {MIN_FILTER: "LINEAR", MAG_FILTER: "LINEAR", WRAP_S: "CLAMP_TO_EDGE", WRAP_T: "CLAMP_TO_EDGE"};
        const texture = (format, side, more = {}) => {
            const t = gl.createTexture();
            gl.bindTexture(gl.TEXTURE_2D, t);
            gl.texStorage2D(gl.TEXTURE_2D, 1, format, side, side);
            for (const [k, v] of Object.entries({...smooth, ...more})) gl.texParameteri(gl.TEXTURE_2D, gl["TEXTURE_" + k], gl[v]);
            return t;
        };
        const target = (attachment, t) => {
            const f = gl.createFramebuffer();
            gl.bindFramebuffer(gl.FRAMEBUFFER, f);
            gl.framebufferTexture2D(gl.FRAMEBUFFER, attachment, gl.TEXTURE_2D, t, 0);
            return f;
        };
        this.shadow = texture(gl.DEPTH_COMPONENT24, this.side, {COMPARE_MODE: "COMPARE_REF_TO_TEXTURE"});
        this.shading = target(gl.DEPTH_ATTACHMENT, this.shadow);
        gl.drawBuffers([gl.NONE]);
        this.soft = [0, 1].map(() => { const t = texture(gl.RGBA8, 256); return [t, target(gl.COLOR_ATTACHMENT0, t)]; });
        this.plain = gl.createSampler();
        for (const k of ["MIN_FILTER", "MAG_FILTER"]) gl.samplerParameteri(this.plain, gl["TEXTURE_" + k], gl.NEAREST);
        gl.samplerParameteri(this.plain, gl.TEXTURE_COMPARE_MODE, gl.NONE);
        [this.quad, this.strip] = [[-1, -1, 1, -1, -1, 1, 1, 1], [0, -1, 1, -1, 0, 1, 1, 1]].map(corners => {
            const vao = gl.createVertexArray(), buffer = gl.createBuffer();
            gl.bindVertexArray(vao);
            gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
            gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(corners), gl.STATIC_DRAW);
            gl.enableVertexAttribArray(4);
            gl.vertexAttribPointer(4, 2, gl.FLOAT, false, 0, 0);
            return {vao, buffer};
        });
        gl.bindVertexArray(null);
    }
    program(name, vertex, fragment) {
        const gl = this.gl, p = gl.createProgram();
        for (const [kind, code] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
            const s = gl.createShader(kind);
            gl.shaderSource(s, HEAD + code);
            gl.compileShader(s);
            gl.attachShader(p, s);
        }
        ATTRIBUTES.forEach((x, i) => gl.bindAttribLocation(p, i, x));
        gl.linkProgram(p);
        if (!gl.getProgramParameter(p, gl.LINK_STATUS) && !gl.isContextLost())
            throw Error(`${name}: ${gl.getProgramInfoLog(p)} ${gl.getAttachedShaders(p).map(s => gl.getShaderInfoLog(s))}`);
        const at = {};
        for (let i = 0; i < (gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS) || 0); i++) {
            const u = gl.getActiveUniform(p, i);
            at[u.name.replace("[0]", "")] = [gl.getUniformLocation(p, u.name), u.type];
        }
        return {p, at};
    }
    upload({floats, colours, quads}) {
        const gl = this.gl, vao = gl.createVertexArray(), buffers = [0, 0, 0].map(() => gl.createBuffer());
        const index = new Uint32Array(6 * quads);
        for (let i = 0; i < quads; i++) index.set([0, 1, 2, 0, 2, 3].map(k => 4 * i + k), 6 * i);
        gl.bindVertexArray(vao);
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[0]);
        gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(floats), gl.STATIC_DRAW);
        for (const [i, n, at] of [[0, 3, 0], [1, 3, 12], [2, 2, 24]]) { gl.enableVertexAttribArray(i); gl.vertexAttribPointer(i, n, gl.FLOAT, false, 32, at); }
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[1]);
        gl.bufferData(gl.ARRAY_BUFFER, new Uint8Array(colours), gl.STATIC_DRAW);
        gl.enableVertexAttribArray(3);
        gl.vertexAttribPointer(3, 4, gl.UNSIGNED_BYTE, true, 0, 0);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[2]);
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, index, gl.STATIC_DRAW);
        gl.bindVertexArray(null);
        return {vao, buffers};
    }
    line(points) {  // (x, y, z, t) for each point
        const gl = this.gl, vao = gl.createVertexArray(), buffers = [gl.createBuffer()];
        gl.bindVertexArray(vao);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.strip.buffer);
        gl.enableVertexAttribArray(4);
        gl.vertexAttribPointer(4, 2, gl.FLOAT, false, 0, 0);
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[0]);
        gl.bufferData(gl.ARRAY_BUFFER, points, gl.STATIC_DRAW);
        for (const [i, at] of [[5, 0], [6, 16]]) { gl.enableVertexAttribArray(i); gl.vertexAttribPointer(i, 4, gl.FLOAT, false, 16, at); gl.vertexAttribDivisor(i, 1); }
        gl.bindVertexArray(null);
        return {vao, buffers, count: points.length / 4 - 1};
    }
    free(things) {
        if (!this.lost) for (const {vao, buffers} of things) { this.gl.deleteVertexArray(vao); buffers.forEach(b => this.gl.deleteBuffer(b)); }
    }
    close() {
        this.gl.getExtension("WEBGL_lose_context")?.loseContext();
    }
    use(name, values) {
        const gl = this.gl, {p, at} = this.programs[name];
        gl.useProgram(p);
        for (const [k, v] of Object.entries(values)) {
            if (!at[k]) continue;
            const [u, type] = at[k];
            if (type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(u, false, v);
            else if (type === gl.FLOAT) gl.uniform1f(u, v);
            else if (type === gl.FLOAT_VEC2) gl.uniform2fv(u, v);
            else if (type === gl.FLOAT_VEC3) gl.uniform3fv(u, v);
            else if (type === gl.FLOAT_VEC4) gl.uniform4fv(u, v);
            else gl.uniform1i(u, v);
        }
    }
    triangles(mesh, from, to) {
        this.gl.bindVertexArray(mesh.vao);
        this.gl.drawElements(this.gl.TRIANGLES, 6 * (to - from), this.gl.UNSIGNED_INT, 24 * from);
    }
    // s: what a pane wants shown; bodies: {gpu mesh, from, to, frames, ink}
    draw(w, h, theme, s) {
        const gl = this.gl, T = THEMES[theme], c = this.canvas;
        if (c.width < w || c.height < h) { c.width = Math.max(w, c.width); c.height = Math.max(h, c.height); }
        const room = s.room, sunview = multiply(orthographic(room, 0.1 * room, 8 * room), look(s.centre.map((x, i) => x + SUN[i] * 4 * room), s.centre));
        const haze = linear(T.haze), [plain, line] = (T.floors[s.floor] ?? T.floors.tiles).map(linear), [ground, right, ahead] = s.ground;
        const common = {view: s.view, sunview, sunback: inverse(sunview), eye: s.eye, sun: SUN, air: T.air, bounce: T.bounce, haze, focus: s.focus,
            sunlight: T.sun, reach: s.reach, shade: T.shade, size: s.size, ground, right, ahead, depth: 0, soft: 1, push: 0};
        this.shadows(s, common, sunview, room);
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        gl.viewport(0, c.height - h, w, h);
        gl.clearColor(...haze.map(x => x ** (1 / 2.2)), 1);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        gl.activeTexture(gl.TEXTURE1);
        gl.bindTexture(gl.TEXTURE_2D, this.soft[1][0]);
        gl.activeTexture(gl.TEXTURE0);
        gl.bindTexture(gl.TEXTURE_2D, this.shadow);
        for (const b of s.bodies) { this.use("body", {...common, frames: b.frames, ink: b.ink, tint: [0, 0, 0, 0], ghost: 0}); this.triangles(b.mesh, b.from, b.to); }
        if (s.floor !== "none") {
            this.use("floor", {...common, plain, line, cell: s.cell, wide: s.reach * 1.15});
            gl.bindVertexArray(this.quad.vao);
            gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
        }
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        for (const hidden of [true, false]) {  // what a body hides of a path shines through, pale
            gl.depthMask(!hidden);  // the others write their depth, so that joints are not drawn twice
            gl.depthFunc(hidden ? gl.GREATER : gl.LESS);
            for (const l of s.lines) {
                this.use("trail", {...common, pixels: [w / 2, h / 2], lift: 0.003 * s.size, ...l, alpha: (hidden ? HIDDEN : 1) * l.alpha});
                gl.bindVertexArray(l.line.vao);
                gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, l.line.count);
            }
        }
        for (const g of s.ghosts) {  // depth first, so that a ghost does not shine through itself
            const push = 0.02 * s.size;
            gl.depthMask(true);
            gl.colorMask(false, false, false, false);
            gl.enable(gl.POLYGON_OFFSET_FILL);
            gl.polygonOffset(0.5, 1);
            this.use("depth", {...common, frames: g.frames, push});
            this.triangles(g.mesh, g.from, g.to);
            gl.disable(gl.POLYGON_OFFSET_FILL);
            gl.depthMask(false);
            gl.colorMask(true, true, true, true);
            gl.depthFunc(gl.LEQUAL);
            this.use("body", {...common, frames: g.frames, ink: g.ink, tint: [...g.ink, 0.82], ghost: g.alpha, push});
            this.triangles(g.mesh, g.from, g.to);
            gl.depthFunc(gl.LESS);
        }
        gl.depthMask(true);
        gl.bindVertexArray(null);
    }
    shadows(s, common, sunview, room) {
        const gl = this.gl;
        gl.enable(gl.DEPTH_TEST);
        gl.disable(gl.BLEND);
        gl.depthMask(true);
        gl.colorMask(true, true, true, true);
        gl.bindFramebuffer(gl.FRAMEBUFFER, this.shading);
        gl.viewport(0, 0, this.side, this.side);
        gl.clear(gl.DEPTH_BUFFER_BIT);
        gl.enable(gl.POLYGON_OFFSET_FILL);
        gl.polygonOffset(1.5, 2);
        for (const b of s.bodies) { this.use("depth", {...common, view: sunview, eye: [9e3, 0, 0], frames: b.frames}); this.triangles(b.mesh, b.from, b.to); }
        gl.disable(gl.POLYGON_OFFSET_FILL);
        gl.disable(gl.DEPTH_TEST);
        gl.viewport(0, 0, 256, 256);
        gl.bindVertexArray(this.quad.vao);
        gl.activeTexture(gl.TEXTURE0);
        for (const pass of [0, 1]) {
            gl.bindFramebuffer(gl.FRAMEBUFFER, this.soft[pass][1]);
            gl.bindTexture(gl.TEXTURE_2D, pass ? this.soft[0][0] : this.shadow);
            gl.bindSampler(0, pass ? null : this.plain);
            this.use("blur", {...common, source: 0, step: pass ? [0, 1 / 256] : [1 / 256, 0], first: pass ? 0 : 1, room: 0.7 * room});
            gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
        }
        gl.bindSampler(0, null);
        gl.enable(gl.DEPTH_TEST);
    }
}

// What the stages of a page share: the renderer, and who watches the theme.
const shared = {
    stages: new Set(),
    gpu() { return this.renderer ??= new Renderer(); },
    enter(stage) {
        clearTimeout(this.closing);
        this.stages.add(stage);
        if (this.watching) return;
        this.watching = new MutationObserver(() => { for (const s of this.stages) s.change(); });
        for (const e of [document.body, document.documentElement]) this.watching.observe(e, {attributes: true});
    },
    leave(stage) {  // the context goes with the last stage
        this.stages.delete(stage);
        if (this.stages.size) return;
        clearTimeout(this.closing);
        this.closing = setTimeout(() => { if (!this.stages.size) { this.renderer?.close(); this.renderer = null; } }, 3000);
    },
};

// ---------------------------------------------------------------------------- the page around it
const CSS = `.nhs{position:relative;max-width:860px;font:14px/1.4 system-ui,sans-serif;color:var(--ink);border-radius:10px;overflow:hidden;background:var(--bg);border:1px solid var(--edge)}
.nhs canvas{display:block;touch-action:pan-y;outline-offset:-3px}.nhs .panes{display:flex}.nhs .panes>div{flex:1;min-width:0;position:relative}.nhs .panes>div+div{border-left:1px solid var(--edge)}
.nhs .panes canvas{width:100%;cursor:grab}.nhs .panes canvas:active{cursor:grabbing}.nhs .chart{width:100%;cursor:ew-resize}
.nhs .top{position:absolute;left:14px;top:8px;right:14px;display:flex;gap:2px 16px;flex-wrap:wrap;align-items:center;pointer-events:none}
.nhs label{pointer-events:auto;display:inline-flex;gap:6px;align-items:center;cursor:pointer;min-height:24px}.nhs label input{width:18px;height:18px;margin:3px 0}
.nhs .top label,.nhs .top b{padding:0 6px;margin-left:-6px;border-radius:6px;background:color-mix(in srgb,var(--bg) 72%,transparent)}
.nhs i{width:20px;height:0;border-top:3px solid;display:inline-block}.nhs input{accent-color:var(--blue)}
.nhs .read{display:flex;gap:2px 16px;flex-wrap:wrap;padding:6px 14px 0;font-size:13px}.nhs .read span{font-variant-numeric:tabular-nums}
.nhs .bar{display:flex;flex-wrap:wrap;gap:6px 8px;align-items:center;padding:7px 10px 8px}.nhs .bar input{flex:1;min-width:40px;height:24px}
@media (max-width:480px){.nhs .bar input{flex:1 1 100%;order:-1}.nhs .bar output{flex:1}}
.nhs button,.nhs select{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--edge);border-radius:6px;height:30px;min-width:32px;padding:0 6px;cursor:pointer;flex:none}
.nhs button:hover{background:var(--edge)}.nhs :focus-visible{outline:3px solid var(--blue)}.nhs output{font-variant-numeric:tabular-nums;min-width:4.6em}
.nhs[data-theme=light]{--ink:#2B2F36;--bg:#FBFAF8;--edge:#DDDAD2;--blue:#0072B2}.nhs[data-theme=dark]{--ink:#E3E5E8;--bg:#191C22;--edge:#363C46;--blue:#4AA8E0}`;
const dark = () => {
    const lab = document.body.dataset.jpThemeLight, site = document.documentElement.dataset.theme || document.documentElement.dataset.mode;
    if (lab) return lab === "false";
    return site === "dark" || site === "light" ? site === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
// A colour that can be seen on the ground of the theme.
const seen = (colour, theme) => {
    const c = [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16)), light = (0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2]) / 255;
    if (theme === "light" || light > 0.45) return colour;
    const part = light < 0.08 ? 0.85 : 0.4;
    return "#" + c.map(x => Math.round(x + part * (255 - x)).toString(16).padStart(2, "0")).join("");
};
const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500];
const short = x => Number(x.toPrecision(3)).toString();
function ticks(low, high) {  // as in still.py: round numbers, their texts, and what they are counted from
    const raw = (high - low) / 3, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find(m => m * power >= raw * 0.999) * power;
    const found = [], digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    if (digits <= 3 || Math.max(Math.abs(low), Math.abs(high)) < 50 * step)
        return [found.map(y => [y, digits > 4 ? y.toExponential(0) : y.toFixed(digits)]), ""];
    return [found.map(y => [y, y > found[0] ? "+" + (y - found[0]).toExponential(0) : "0"]), found[0].toFixed(digits)];
}
const words = (x, spread) => {
    const digits = Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(spread || Math.abs(x) || 1))));
    return Math.abs(x) > 1e5 || (x && Math.abs(x) < 1e-4) ? x.toExponential(2) : x.toFixed(digits);
};

// Does a view [focus, distance] in a direction hold all points?
const holds = ([focus, d], direction, aspect, points) => {
    const [right, up, back] = directions(direction);
    return points.every(p => { const r = sub(p, focus), deep = TAN * (d - dot(r, back)); return Math.abs(dot(r, right)) <= aspect * deep && Math.abs(dot(r, up)) <= deep; });
};

class Stage {
    constructor(el, head) {
        Object.assign(this, {el, head, actors: head.actors, fine: 1, slow: 16, stats: {frames: 0, cpu: 0}});
        [this.t0, this.t1] = head.times;
        const T = this.t1 - this.t0, base = T > 20 ? SPEEDS.find(s => T / s <= 20) : T < 4 ? SPEEDS.findLast(s => T / s >= 4) ?? 0.01 : 1;
        Object.assign(this, {base, speed: base, t: head.moment, poster: true, playing: false, turn: [0, 0], zoom: 1, follow: head.panes.some(p => p.follow)});
        for (const a of this.actors) {
            a.body = head.models[a.model];
            a.show = true;
            a.frames = new Float32Array(16 * FRAMES);
            this.trace(a);
        }
        this.panes = head.panes.map(p => ({...p, cast: p.actors.map(k => this.actors[k])}));
        for (const p of this.panes) p.main = p.cast.find(a => !a.ghost) ?? p.cast[0];
        for (const m of head.models) this.shape(m);
        this.dress();
        this.watch();
    }
    trace(a) {  // the tracks at all samples
        a.paths = a.body.tracks.map(() => new Float32Array(4 * a.t.length));
        visit_samples(a, a.body, (i, m) => a.body.tracks.forEach((track, k) => a.paths[k].set([...point(m, track), a.t[i] - this.t0], 4 * i)));
    }
    // ---- other runs
    // For each actor {t, columns, reading, name}, or null if it has no run now; times: begin and end.
    take(runs, [t0, t1]) {
        const part = (this.t - this.t0) / (this.t1 - this.t0), poster = this.poster;
        Object.assign(this, {t0, t1, span: null});
        if (this.gpu) this.gpu.free(this.actors.flatMap(a => a.lines));
        this.actors.forEach((a, k) => {
            a.absent = !runs[k];
            if (!a.absent) {
                Object.assign(a, {t: runs[k].t, columns: runs[k].columns, reading: runs[k].reading ?? null});
                roll(a, a.body);
                this.trace(a);
            }
            if (this.gpu) a.lines = a.paths.map(p => this.gpu.line(p));
            for (const chip of a.chips) chip.parentElement.style.display = a.absent ? "none" : "";
        });
        for (const p of this.panes) p.main = p.cast.find(a => !a.ghost && !a.absent) ?? p.cast[0];
        this.aim();
        this.t = poster ? this.head.moment : t0 + part * (t1 - t0);
        Object.assign(this.range, {min: t0, max: t1});
        this.change();
    }
    replace(head) {  // another scene of as many actors
        const text = m => JSON.stringify([m.frames, m.parts, m.scenery, m.tracks]);
        head.models.forEach((m, k) => {
            const old = this.head.models[k], same = old && text(old) === text(m);
            if (same) Object.assign(m, {mesh: old.mesh, moving: old.moving, gpu: old.gpu});
            else { if (this.gpu && old?.gpu) this.gpu.free([old.gpu]); this.shape(m); if (this.gpu) m.gpu = this.gpu.upload(m.mesh); }
        });
        this.head.models = head.models;
        this.actors.forEach((a, k) => a.body = head.models[head.actors[k].model]);
        this.panes.forEach((p, k) => Object.assign(p, {size: head.panes[k].size, cell: head.panes[k].cell, near: head.panes[k].near, ground: head.panes[k].ground}));
        this.take(head.actors, head.times);
    }
    shape(m) { m.mesh = mesh([...m.parts, ...m.scenery]); m.moving = mesh(m.parts).quads; }
    present(p) { return p.cast.filter(a => !a.absent); }
    place(a, t) { return point(poses(a.body, columns(a, a.body, t)), a.body.focus); }
    reached(a) {  // points of its body at some times, and its tracks (Scene.reached in stage.py)
        const found = [], f = a.body.mesh.floats, end = 32 * (a.body.whole ? a.body.mesh.quads : a.body.moving);
        for (let k = 0; k < 5; k++) {
            const m = poses(a.body, columns(a, a.body, this.t0 + k / 4 * (this.t1 - this.t0)));
            for (let i = 0; i < end; i += 56) found.push(point(m, [f[i + 6], [f[i], f[i + 1], f[i + 2]]]));
        }
        for (const path of a.paths) for (let i = 0; i < path.length; i += 4) found.push([path[i], path[i + 1], path[i + 2]]);
        return found;
    }
    aim() {  // the telling moment and the views; a view that still fits stays, so that it does not jump
        const {t0, t1, head, panes} = this, aspect = head.aspect / panes.length, seen = panes.map(p => this.present(p).flatMap(a => this.reached(a)));
        const reach = seen.map(x => Math.max(0, ...[0, 1, 2].map(i => x.reduce((m, p) => Math.max(m, p[i]), -Infinity) - x.reduce((m, p) => Math.min(m, p[i]), Infinity))));
        const alike = Math.max(...reach) <= 3 * Math.min(...reach) && new Set(panes.map(p => p.main.body)).size === 1;
        head.moment = this.telling();
        panes.forEach((p, k) => {
            const points = alike ? seen.flat() : seen[k];
            if (!points.length) return;
            const next = fitted(points, p.view, aspect);
            if (next[1] < 0.5 * p.far[1] || !holds(p.far, p.view, aspect, points)) { p.far = next; if (!calm()) this.glide = 1; }
            const zoom = p.far[1] / p.near[1], follow = zoom > 2.2 && !p.main.body.whole;
            if (p.follow !== follow) { p.follow = follow; this.follow = panes.some(x => x.follow); }
            p.earlier = this.earlier(p, head.moment);
            if (zoom < CLOSE || p.main.body.whole) { p.poster = p.far; return; }
            const at = this.place(p.main, head.moment), focus = [at[0], at[1], p.near[0]], d = CLOSE * p.near[1], away = sub(p.far[0], focus);
            const part = Math.min(1, 0.2 * d / Math.max(Math.hypot(...away), 1e-9));
            p.poster = [[focus[0] + part * away[0], focus[1] + part * away[1], focus[2]], d];
        });
    }
    telling() {  // (Scene.moment in stage.py)
        const times = Array.from({length: 60}, (_, k) => this.t0 + k / 59 * (this.t1 - this.t0)).slice(15, -1);
        const apart = times.map(t => Math.max(0, ...this.panes.flatMap(p => { const at = this.place(p.main, t); return this.present(p).map(a => Math.hypot(...sub(this.place(a, t), at))); })));
        const most = Math.max(...apart);
        return most < 0.05 * this.panes[0].size ? times[Math.floor(0.68 * times.length)] : times[apart.indexOf(most)];
    }
    earlier(p, t, most = 3) {  // (Scene.earlier in stage.py)
        const times = Array.from({length: 160}, (_, k) => this.t0 + k / 159 * (t - this.t0)), places = times.map(s => this.place(p.main, s)), found = [159];
        for (let k = 158; k >= 0; k--) if (found.every(j => Math.hypot(...sub(places[k], places[j])) > p.size)) found.push(k);
        const every = Math.max(1, Math.ceil((found.length - 1) / most));
        return found.slice(1).filter((_, k) => k % every === 0).slice(0, most).map(k => times[k]);
    }
    // ---- controls
    dress() {
        const {head} = this;
        const make = (tag, props = {}, into = this.root) => {
            const e = document.createElement(tag);
            for (const k in props) k in e ? e[k] = props[k] : e.setAttribute(k, props[k]);
            // JupyterLab looks for this on the element with the focus, before it looks at those around it
            if (["canvas", "button", "input", "select"].includes(tag)) e.setAttribute("data-lm-suppress-shortcuts", "true");
            into.append(e);
            return e;
        };
        this.root = document.createElement("div");
        this.root.className = "nhs";
        make("style", {textContent: CSS});  // here, since a stage may stand in a shadow tree
        for (const [k, v] of [["role", "group"], ["aria-label", head.title || "A motion"]]) this.root.setAttribute(k, v);
        const row = make("div", {className: "panes"});
        const help = " Space plays and pauses, full stop and comma step, Home goes to the beginning, arrow keys turn the view.";
        for (const p of this.panes) {
            const box = make("div", {}, row);
            p.canvas = make("canvas", {tabIndex: 0, role: "img", "aria-label": head.alt + help}, box);
            p.context = p.canvas.getContext("2d");
            this.legend(p, make, make("div", {className: "top"}, box));
            this.steer(p.canvas);
        }
        if (this.actors.some(a => a.reading)) {
            this.read = make("div", {className: "read"});
            this.label = make("b", {textContent: head.label}, this.read);
            for (const a of this.actors) if (a.reading) a.said = make("span", {}, this.read);
            this.chart = make("canvas", {className: "chart", role: "img", "aria-label": `${head.label} over time`});
            const seek = e => { if (e.type === "pointermove" && !e.buttons) return; const r = this.chart.getBoundingClientRect(); this.seek(this.t0 + (this.t1 - this.t0) * (e.clientX - r.left - 58) / (r.width - 72)); };
            this.chart.onpointerdown = this.chart.onpointermove = seek;
        }
        const bar = make("div", {className: "bar"});
        this.button = make("button", {textContent: "▶", title: "Play or pause (space)", "aria-label": "Play", onclick: () => this.play(!this.playing)}, bar);
        this.range = make("input", {type: "range", "aria-label": "time", oninput: () => this.seek(+this.range.value)}, bar);
        Object.assign(this.range, {min: this.t0, max: this.t1, step: "any"});
        this.clock = make("output", {}, bar);
        const select = make("select", {title: "Time units in a second", "aria-label": "Speed", onchange: () => this.speed = +select.value}, bar);
        for (const s of [this.base / 4, this.base / 2, this.base, 2 * this.base]) make("option", {value: s, textContent: `${short(s)}×`, selected: s === this.base}, select);
        if (head.panes.some(p => p.far[1] > 1.25 * p.near[1])) this.camera = make("button", {title: "Follow the body, or see the whole motion (f)", onclick: () => { this.follow = !this.follow; this.leave(); }}, bar);
        make("button", {textContent: "↺", title: "View as at first (0)", "aria-label": "Reset the view", onclick: () => this.reset()}, bar);
    }
    legend(p, make, top) {
        if (p === this.panes[0] && this.head.title) make("b", {textContent: this.head.title}, top);
        for (const a of p.cast) {
            const l = make("label", {}, top), one = p.cast.length === 1;
            if (!one) { const box = make("input", {type: "checkbox", checked: true, onchange: () => { a.show = box.checked; this.change(); }}, l); }
            const chip = make("i", {}, l);
            if (a.dash) chip.style.borderTopStyle = "dashed";
            (a.chips ??= []).push(chip);
            l.append(a.name);
        }
    }
    steer(canvas) {
        const fingers = new Map();
        canvas.onkeydown = e => this.key(e);
        canvas.onpointerdown = e => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.clientX, e.clientY]); };
        canvas.onpointerup = canvas.onpointercancel = e => fingers.delete(e.pointerId);
        canvas.onpointermove = e => {
            const was = fingers.get(e.pointerId);
            if (!was) return;
            const others = [...fingers].filter(([id]) => id !== e.pointerId).map(x => x[1]);
            const apart = p => Math.hypot(p[0] - others[0][0], p[1] - others[0][1]);
            const now = [e.clientX, e.clientY];
            if (others.length) this.zoom *= apart(was) / Math.max(apart(now), 1);
            else this.orbit(-0.007 * (now[0] - was[0]), 0.005 * (now[1] - was[1]));
            fingers.set(e.pointerId, now);
            this.change();
        };
        canvas.addEventListener("wheel", e => {
            if (!e.ctrlKey && canvas.getRootNode().activeElement !== canvas) return;
            e.preventDefault();
            this.zoom *= Math.exp(0.0015 * e.deltaY);
            this.change();
        }, {passive: false});
    }
    orbit(az, el) {
        const elevation = this.head.panes[0].view[1];
        this.turn = [this.turn[0] + az, Math.min(1.5 - elevation, Math.max(0.04 - elevation, this.turn[1] + el))];
        this.change();
    }
    key(e) {
        const step = (this.t1 - this.t0) / 100, act = {
            " ": () => this.play(!this.playing), ".": () => this.seek(this.t + step), ",": () => this.seek(this.t - step),
            Home: () => this.seek(this.t0), End: () => this.seek(this.t1), ArrowLeft: () => this.orbit(-0.08, 0), ArrowRight: () => this.orbit(0.08, 0),
            ArrowUp: () => this.orbit(0, 0.05), ArrowDown: () => this.orbit(0, -0.05), "+": () => this.zoom /= 1.1, "-": () => this.zoom *= 1.1,
            f: () => this.camera?.click(), 0: () => this.reset()}[e.key];
        if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
        e.preventDefault();
        e.stopPropagation();
        act();
        this.change();
    }
    leave() {  // the view of the still
        if (!calm()) this.glide = 1;
        this.poster = false;
        this.change();
    }
    reset() { this.turn = [0, 0]; this.zoom = 1; this.change(); }
    seek(t) { if (this.poster) this.leave(); this.t = Math.min(this.t1, Math.max(this.t0, t)); this.change(); }
    play(on) {
        if (on && (this.poster || this.t >= this.t1)) { this.t = this.t0; this.leave(); }
        this.playing = on;
        this.button.textContent = on ? "❚❚" : "▶";
        this.button.setAttribute("aria-label", on ? "Pause" : "Play");
        this.last = performance.now();
        this.change();
    }
    // ---- when to draw
    watch() {
        new IntersectionObserver(([e]) => {
            if (this.blind && this.root.isConnected) return;  // hidden behind its still, not out of sight
            this.visible = e.isIntersecting;
            if (this.visible) { shared.enter(this); this.change(); } else this.rest();
        }).observe(this.root);
        new ResizeObserver(() => this.change()).observe(this.root);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.change());
    }
    change() { if (!this.asked && this.visible && !this.blind) { this.asked = true; requestAnimationFrame(now => this.tick(now)); } }
    rest() {  // out of sight: what is on the graphics card goes
        if (this.gpu) { this.gpu.free([...this.head.models.map(m => m.gpu), ...this.actors.flatMap(a => a.lines)]); this.gpu = null; }
        shared.leave(this);
    }
    load() {
        const gpu = shared.gpu();
        if (this.gpu === gpu || gpu.lost) return !gpu.lost;
        for (const m of this.head.models) m.gpu = gpu.upload(m.mesh);
        for (const a of this.actors) a.lines = a.paths.map(p => gpu.line(p));
        this.gpu = gpu;
        return true;
    }
    lose() { this.gpu = null; this.play(false); this.still("The graphics of this browser were interrupted: the motion plays again when they are back."); }
    restore() { this.still(null); this.change(); }
    still(text) {  // the still in place of the player, with a sentence
        this.blind = text !== null;
        this.root.style.display = this.blind ? "none" : "";
        say(this.el, text);
    }
    tick(now) {
        this.asked = false;
        if (!this.root.isConnected || !this.visible) return;
        if (this.playing) {
            const passed = now - this.last;
            this.slow = 0.8 * this.slow + 0.2 * passed;
            if (this.slow > 45 && this.fine > 0.5) { this.fine *= 0.8; this.slow = 20; }
            this.t += this.speed * Math.min(0.1, Math.max(0, passed / 1000));
            if (this.t >= this.t1) { this.t = this.t1; this.play(false); }
        }
        if (this.glide) { this.glide -= Math.min(0.25, Math.max(0.01, (now - this.last) / 700)); if (this.glide < 0.02) this.glide = 0; }
        this.last = now;
        const begun = performance.now();
        try { this.render(); } catch (error) { this.still(`The motion cannot be drawn here (${error.message}).`); return; }
        this.stats.frames++;
        this.stats.cpu += performance.now() - begun;
        if (this.playing || this.glide) this.change();
        else if (this.fine < 1) { this.fine = 1; this.change(); }
    }
    // ---- drawing
    render() {
        if (!this.load()) return;
        const theme = dark() ? "dark" : "light", ratio = this.fine * Math.min(devicePixelRatio || 1, 2), width = this.root.clientWidth;
        if (!width) return;
        this.root.dataset.theme = theme;
        for (const a of this.actors) {
            a.ink = seen(a.colour, theme);
            for (const chip of a.chips) chip.style.borderTopColor = a.ink;
            a.frames.set(poses(a.body, columns(a, a.body, this.t)));
        }
        const height = Math.round(Math.min(width / this.head.aspect, 460));
        for (const p of this.panes) this.pane(p, theme, width / this.panes.length, height, ratio);
        this.range.value = this.t;
        const digits = Math.max(0, 2 - Math.floor(Math.log10(this.t1 - this.t0) / 2));
        this.clock.textContent = `t = ${this.t.toFixed(digits)}`;
        this.range.setAttribute("aria-valuetext", `${this.clock.textContent} of ${short(this.t1)}`);
        if (this.camera) { this.camera.textContent = this.follow ? "Follow" : "Overview"; this.camera.setAttribute("aria-pressed", this.follow); }
        if (this.chart) this.curves(theme, Math.min(devicePixelRatio || 1, 2), width);
    }
    goal(p, aspect) {
        const at = point(p.main.frames, p.main.body.focus), wide = this.zoom * Math.max(1, this.head.aspect / this.panes.length / aspect);
        const [focus, d] = this.poster ? p.poster : this.follow ? [[at[0], at[1], p.near[0] + (p.ground[1][2] ? at[2] : 0)], p.near[1]] : p.far;
        return [focus, d * wide, at];
    }
    pane(p, theme, width, height, ratio) {
        const W = Math.round(width * ratio), H = Math.round(height * ratio);
        if (p.canvas.width !== W || p.canvas.height !== H) { p.canvas.width = W; p.canvas.height = H; p.canvas.style.height = height + "px"; }
        const [focus, distance, at] = this.goal(p, width / height), k = this.glide && p.focus ? Math.min(1, 0.12 / this.glide) : 1;
        p.focus = p.focus && k < 1 ? p.focus.map((v, i) => v + k * (focus[i] - v)) : focus;
        p.distance = k < 1 ? p.distance + k * (distance - p.distance) : distance;
        const az = p.view[0] + this.turn[0], el = p.view[1] + this.turn[1], d = p.distance;
        const eye = [p.focus[0] + d * Math.cos(el) * Math.cos(az), p.focus[1] + d * Math.cos(el) * Math.sin(az), p.focus[2] + d * Math.sin(el)];
        const shown = this.present(p).filter(a => a.show), body = a => ({mesh: a.body.gpu, from: 0, to: a.body.moving, frames: a.frames, ink: linear(a.ghost ? a.ink : a.paint)});
        const bodies = shown.filter(a => !a.ghost).map(body);
        if (p.main.body.scenery.length) bodies.push({...body(p.main), from: p.main.body.moving, to: p.main.body.mesh.quads});
        const places = shown.filter(a => !a.ghost).map(a => point(a.frames, a.body.focus)), centre = [0, 1, 2].map(i => places.length ? (Math.min(...places.map(x => x[i])) + Math.max(...places.map(x => x[i]))) / 2 : at[i]);
        const spread = Math.max(0, ...places.map(x => Math.hypot(...sub(x, centre))));
        const scenery = p.main.body.scenery.length ? 0.4 * d : 0;
        const span = (this.t1 - this.t0) / 3, lines = [];
        [...shown].sort((a, b) => b.ghost - a.ghost).forEach((a, rank) => a.lines.forEach((line, i) => {
            const look = {line, rank, width: (i ? 0.9 : 1.7) * ratio, ink: linear(a.ink).map(x => x ** (1 / 2.2)), alpha: i ? 0.5 : 1, dash: a.dash ? (this.t1 - this.t0) / 60 : 0, span};
            if (this.head.future) lines.push({...look, now: 1e9, span: 1e12, alpha: 0.22, dash: 0});
            lines.push({now: this.t - this.t0, ...look});
        }));
        const ghosts = shown.filter(a => a.ghost).map(a => ({...body(a), alpha: 0.62}));
        if (this.poster) for (const a of shown.filter(a => !a.ghost)) for (const t of p.earlier) {
            const frames = new Float32Array(16 * FRAMES);
            frames.set(poses(a.body, columns(a, a.body, t)));
            ghosts.unshift({...body(a), frames, alpha: 0.22});
        }
        this.gpu.draw(W, H, theme, {view: multiply(perspective(W / H, 0.05 * d, 60 * d), look(eye, p.focus)), eye, focus: [p.focus[0], p.focus[1], 0],
            centre, room: 0.75 * p.size + spread + scenery, size: p.size, reach: 3.2 * d, floor: p.floor, ground: p.ground, cell: p.cell, bodies, ghosts, lines});
        p.context.drawImage(this.gpu.canvas, 0, 0, W, H, 0, 0, W, H);
        p.matrix = {eye, focus: p.focus, distance: d};
    }
    curves(theme, ratio, w) {
        const h = 96, c = this.chart.getContext("2d"), ink = theme === "dark" ? "#AEB4BD" : "#5A6068", {t0, t1} = this;
        if (this.chart.width !== Math.round(w * ratio)) { this.chart.width = Math.round(w * ratio); this.chart.height = Math.round(h * ratio); this.chart.style.height = h + "px"; }
        const read = this.actors.filter(a => a.reading && !a.absent);
        if (!this.span) {
            let low = Infinity, high = -Infinity;
            for (const a of read) for (const y of a.reading[1]) { if (y < low) low = y; if (y > high) high = y; }
            const size = Math.abs(high), flat = high - low <= 1e-13 * size;  // what is left is rounding
            const room = flat ? Math.max(1e-12, 0.05 * size) : 0.06 * (high - low);
            this.span = [low - room, high + room];
        }
        const [low, high] = this.span, X = t => 58 + (w - 72) * (t - t0) / (t1 - t0), Y = y => 84 - 74 * (y - low) / (high - low);
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, w, h);
        c.font = "12px system-ui,sans-serif";
        c.textAlign = "right";
        c.lineWidth = 1;
        const [marks, base] = ticks(low, high);
        this.label.textContent = this.head.label + (base && `, above ${base}`);
        for (const [y, text] of marks) {
            c.strokeStyle = theme === "dark" ? "#363C46" : "#DDDAD2";
            c.fillStyle = ink;
            c.beginPath(); c.moveTo(58, Y(y)); c.lineTo(w - 14, Y(y)); c.stroke();
            c.fillText(text, 52, Y(y) + 4);
        }
        for (const a of read) {
            const [x, y] = a.reading, [k, u] = interval(x, this.t), now = y[k] + u * (y[k + 1] - y[k]);
            a.said.textContent = `${read.length > 1 ? a.name + ": " : ""}${words(now, high - low)}`;
            a.said.style.color = a.ink;
            if (!a.show || a.absent) continue;
            for (const [end, alpha] of [[t1, 0.25], [this.t, 1]]) {
                c.globalAlpha = alpha; c.strokeStyle = a.ink; c.lineWidth = a.ghost ? 3 : 1.8; c.setLineDash(a.dash ? [6, 3] : []);
                c.beginPath();
                for (let i = 0; i < x.length && x[i] <= end; i++) c.lineTo(X(x[i]), Y(y[i]));
                if (end >= x[0]) c.lineTo(X(Math.min(end, x[x.length - 1])), Y(end === t1 ? y[y.length - 1] : now));
                c.stroke();
            }
            c.globalAlpha = 1; c.setLineDash([]); c.fillStyle = a.ink;
            if (this.t >= x[0]) { c.beginPath(); c.arc(X(this.t), Y(now), 4, 0, 7); c.fill(); }
        }
        c.strokeStyle = ink; c.lineWidth = 1; c.beginPath(); c.moveTo(X(this.t), 6); c.lineTo(X(this.t), 88); c.stroke();
    }
}

// ---------------------------------------------------------------------------- entry
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
// Show the still with a sentence, or without a sentence hide it.
function say(el, text, button) {
    const still = el.querySelector("img"), note = el.querySelector(".nhs-note") ?? el.appendChild(Object.assign(document.createElement("p"), {className: "nhs-note"}));
    if (still) still.style.display = text === null ? "none" : "";
    note.style.display = text === null ? "none" : "";
    note.textContent = text ?? "";
    if (button) note.append(" ", button);
}
function mount(el, bytes, options = {}) {
    if (el.stage) return el.stage;
    try {
        shared.gpu();
    } catch (error) {
        say(el, "The motion plays in a browser with WebGL 2; here it stands still.");
        return null;
    }
    const begin = () => {
        const stage = el.stage = new Stage(el, unpack(bytes));
        say(el, null);
        el.append(stage.root);
        if (el.news) deliver(el, el.news);
        if ((options.play || el.plays) && !calm()) stage.play(true);  // a page may have set el.plays
        return stage;
    };
    if (!calm() || options.now) return begin();
    const button = Object.assign(document.createElement("button"), {textContent: "Show the player", style: "min-height:28px", onclick: begin});
    say(el, "You have asked for reduced motion, so this stands still.", button);
    return null;
}
// Another scene for the stage in an element, as when a slider of its panel has moved; the newest counts.
async function deliver(el, text) {
    el.news = text;
    if (!el.stage) return;
    const head = unpack(await inflate(text));
    if (el.news === text) el.stage.replace(head);
}
// The runs that a page has computed, {t, columns} for each actor or null, on a stage in an element; it
// is made at first from the text of a scene.
async function follow(el, text, runs) {
    el.runs = runs;
    if (el.scene !== text) {
        el.scene = text;
        el.stage?.root.remove();
        el.stage = null;
        el.opened = inflate(text).then(bytes => el.scene === text ? mount(el, bytes, {now: true, play: true}) : null);
    }
    const stage = await el.opened;
    if (!stage || el.runs !== runs || !runs.some(x => x)) return;
    const ends = runs.filter(x => x).map(x => x.t.at(-1));
    stage.take(runs, [runs.find(x => x).t[0], Math.min(...ends)]);
}
globalThis[KEY] = {mount, deliver, follow, inflate, unpack, poses, columns, roll, fitted, mesh, shared};
})();
