// Figures whose settings were computed when the site was built (recorded.py): sliders show them.
//
// A book has the pictures behind ("grounds") and what moves before them.  What differs from one
// setting to the next is a column {along, values}: `along` are the controls it depends on, and the
// values are in the order of these controls, the last one fastest.

const nhlab_recorded = (() => {
const SVG = "http://www.w3.org/2000/svg", UNIT = 4000;

function made(name, given = {}, ...children) {
    const x = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(given)) x.setAttribute(key, value);
    x.append(...children);
    return x;
}

async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), x => x.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
}

class Recorded {
    constructor(box, book, folder) {
        Object.assign(this, {box, book, at: book.controls.map(x => x.at)});
        this.grounds = book.grounds.map(x => new URL(x, folder).href);
        this.build();
        this.show();
    }

    // ---- what a column has at the present setting

    place(along) {
        return along.reduce((k, c) => k * this.book.controls[c].texts.length + this.at[c], 0);
    }
    value({along, at, values}) {
        return values[at[this.place(along)]];
    }
    numbers(shape) {
        if (shape.ragged) {  // without gaps, each but the first is the distance from the one before
            const found = [...this.value(shape.ragged)];
            if (!shape.gaps) for (let k = 2; k < found.length; k++) found[k] += found[k - 2];
            return found;
        }
        const found = new Array(shape.count);
        for (const {along, which, values} of shape.parts) {
            const k = this.place(along);
            which.forEach((n, j) => { found[n] = values[j][k]; });
        }
        return found;
    }
    points(shape) {  // in pixels of the picture
        const [left, top, width, height] = this.book.boxes[this.ground][shape.axes];
        const found = this.numbers(shape), pairs = [];
        for (let k = 0; k < found.length; k += 2) pairs.push(found[k] === null || found[k + 1] === null
            ? null : [left + width * found[k] / UNIT, top + height * found[k + 1] / UNIT]);
        return pairs;
    }

    // ---- what is drawn

    build() {
        const {size: [W, H], controls, shapes} = this.book, name = `nhr${Math.random()}`;
        this.image = made("image", {width: W, height: H});
        this.rooms = this.book.boxes[0].map((_, k) => made("clipPath", {id: `${name}-${k}`}, made("rect")));
        this.drawn = shapes.map(x => made("g", x.text ? {} : {"clip-path": `url(#${name}-${x.axes})`}));
        this.svg = made("svg", {viewBox: `0 0 ${W} ${H}`, role: "img", class: "picture"},
            ...this.rooms, this.image, ...this.drawn);
        this.svg.setAttribute("aria-label", this.box.querySelector("img")?.alt ?? "");
        this.svg.style.maxWidth = `${W}px`;
        const html = (tag, given, ...children) => {
            const x = Object.assign(document.createElement(tag), given);
            x.append(...children);
            return x;
        };
        this.said = html("p", {className: "said"});
        this.said.setAttribute("aria-live", "polite");
        this.inputs = controls.map((c, k) => this.input(html, c, k));
        const reset = html("button", {type: "button", textContent: "Reset", onclick: () => {
            this.at = controls.map(x => x.at);
            this.show();
        }});
        const count = controls.reduce((product, x) => product * x.texts.length, 1);
        const note = html("p", {className: "note"}, `Computed at ${count.toLocaleString("en")} `
            + "settings, between which the sliders step; the notebook has all others.");
        const caption = html("div", {className: "caption", innerHTML: this.book.caption});
        const bar = html("div", {className: "bar"}, ...this.inputs.flatMap(x => x.label ?? []), reset);
        this.box.replaceChildren(this.svg, this.said, bar, caption, note);
        this.box.recorded = this;
    }
    input(html, {title, texts, kind}, k) {
        const moved = event => { this.at[k] = Number(event.target.value); this.show(); };
        if (texts.length === 1) return {};
        if (kind === "options") {
            const field = html("select", {onchange: moved}, ...texts.map(
                (x, j) => html("option", {value: j, textContent: x})));
            return {field, label: html("label", {}, html("span", {textContent: title}), field)};
        }
        const number = html("output"), field = html("input", {
            type: "range", min: 0, max: texts.length - 1, step: 1, oninput: moved});
        const words = html("span", {}, `${title} `, number);
        return {field, number, label: html("label", {}, words, field)};
    }

    show() {
        const {book} = this;
        this.ground = this.value(book.ground);
        if (this.image.getAttribute("href") !== this.grounds[this.ground])
            this.image.setAttribute("href", this.grounds[this.ground]);
        this.rooms.forEach(({firstChild}, k) => ["x", "y", "width", "height"].forEach(
            (side, j) => firstChild.setAttribute(side, book.boxes[this.ground][k][j])));
        book.shapes.forEach((x, k) => this.drawn[k].replaceChildren(...this.parts(x)));
        this.said.replaceChildren(...book.said.flatMap(({label, text}) => {
            const words = this.value(text), number = document.createElement("b");
            const entry = document.createElement("span");
            number.textContent = words;
            entry.append(`${label} `, number);
            return words ? [entry, " "] : [];
        }));
        const stop = this.value(book.words);
        if (stop) this.said.insertAdjacentHTML("beforeend", stop);
        this.inputs.forEach(({field, number}, k) => {
            if (!field) return;
            const text = book.controls[k].texts[this.at[k]];
            field.value = this.at[k];
            if (number) field.setAttribute("aria-valuetext", number.textContent = text);
        });
    }
    parts(x) {
        const points = this.points(x);
        const look = {fill: x.fill ?? "none", stroke: x.stroke ?? "none", "stroke-width": x.width ?? 0};
        const there = points.filter(p => p);
        if (x.marker) return there.map(([a, b]) => made("path",
            {d: x.marker, transform: `translate(${a.toFixed(1)} ${b.toFixed(1)})`, ...look}));
        if (x.text) return there.map(([a, b]) => Object.assign(made("text", {x: a, y: b,
            "font-size": x.size, "text-anchor": x.anchor, fill: x.fill}), {textContent: this.value(x.text)}));
        if (x.dash) look["stroke-dasharray"] = x.dash;
        if (x.opacity) look.opacity = x.opacity;
        const letters = x.letters && this.value(x.letters);
        let d = "", pen = false;
        points.forEach((p, k) => {
            const letter = letters ? letters[k] : pen ? "L" : "M";
            pen = p !== null;
            if (letter === "Z") d += "Z";  // whose vertex says nothing
            else if (p) d += `${letter === "." ? " " : letter}${p[0].toFixed(1)} ${p[1].toFixed(1)}`;
        });
        if (x.closed && d) d += "Z";
        return d ? [made("path", {d, "stroke-linejoin": "round", ...look})] : [];
    }
}

return async (name, packed) => {
    const folder = document.currentScript.src, book = await unpacked(packed);
    for (const box of document.querySelectorAll(`.recorded[data-figure="${name}"]`))
        new Recorded(box, book, folder);
};
})();
