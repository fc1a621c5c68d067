// Predictions as forms, asked and judged in the page without Python.
//
// A page has each as a question, its choices as a list, and a fold with what was measured, which
// begins with the truth in bold; so it is read where scripts do not run.  `data-form` says how it
// is answered: {kind: "choice"}, {kind: "number", unit, near, most}, {kind: "sketch", labels,
// limits, near, curve}.

function element(name, given = {}, ...children) {
    const made = Object.assign(document.createElement(name), given);
    made.append(...children);
    return made;
}

// ---- ways to answer: what the reader uses, what it says, and whether that is right

function choice(box, {truth, ready}) {
    const list = box.querySelector("ul"), name = `choice-${Math.random()}`;
    const labels = [...list.children].map(item => {
        const radio = element("input", {type: "radio", name, onchange: ready});
        const words = (item.querySelector("p") ?? item).innerHTML;
        return element("label", {}, radio, element("span", {innerHTML: words}));
    });
    const chosen = () => labels.find(x => x.firstChild.checked);
    const group = element("div", {className: "choices"}, ...labels);
    group.setAttribute("role", "radiogroup");
    list.replaceWith(group);
    return {
        widget: group,
        stays: true,  // so that one sees what else could have been, and which choice was one's own
        mark(answered) {
            group.classList.add("said");
            for (const x of labels) {
                const [radio, words] = x.children;
                const marks = {yours: answered && radio.checked, true: words.textContent.trim() === truth};
                radio.disabled = true;
                if (marks.yours) x.classList.add("yours");
                if (marks.true) x.classList.add("true");
                const said = [marks.yours && "yours", marks.true && "measured"].filter(Boolean).join(", ");
                if (said) x.append(element("small", {}, said));
            }
        },
        right: () => chosen().lastChild.textContent.trim() === truth,
        wrong: () => `You predicted: ${chosen().lastChild.innerHTML}. Measured:`,
    };
}

function number(box, {unit, near, most, truth, ready}) {
    const field = element("input", {type: "text", inputMode: "decimal", oninput: ready});
    const said = () => Number(field.value.replace(",", "."));
    let doubted = null;  // an answer that is asked about once
    const widget = element("label", {className: "number"}, "Your answer ", field, ` ${unit}`);
    box.querySelector("details").before(widget);
    return {
        widget,
        doubt: () => {
            if (field.value.trim() === "" || !Number.isFinite(said()))
                return "That is no number; write it as 0.5 or 3e-4.";
            if (Math.abs(said()) <= most || said() === doubted) return "";
            doubted = said();
            return `You wrote ${`${doubted} ${unit}`.trim()}: do you mean that? Change it, or commit once more.`;
        },
        right: () => Math.abs(said() - parseFloat(truth)) <= near * Math.abs(parseFloat(truth)),
        wrong: () => `You predicted: ${`${said()} ${unit}`.trim()}. Measured:`,
    };
}

function sketch(box, {labels, limits, near, curve, ready}) {
    const [[left, right], [low, high]] = limits, COUNT = 7, [W, H, edge, foot] = [560, 250, 46, 34];
    const X = x => edge + (W - edge - 12) * (x - left) / (right - left);
    const Y = y => 8 + (H - 8 - foot) * (high - y) / (high - low);
    const xs = Array.from({length: COUNT}, (_, k) => left + (right - left) * k / (COUNT - 1));
    const ys = xs.map(() => (low + high) / 2), step = (high - low) / 40;
    const svg = (name, given) => {
        const made = document.createElementNS("http://www.w3.org/2000/svg", name);
        for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
        return made;
    };
    const text = (x, y, anchor, words) => Object.assign(
        svg("text", {x, y, "text-anchor": anchor}), {textContent: words});
    const picture = svg("svg", {viewBox: `0 0 ${W} ${H}`, class: "sketch"});
    picture.append(svg("path", {d: `M${edge} 8V${H - foot}H${W - 12}`, class: "axes"}));
    for (const x of limits[0]) picture.append(text(X(x), H - foot + 15, "middle", x));
    for (const y of limits[1]) picture.append(text(edge - 6, Y(y) + 4, "end", y));
    picture.append(text((edge + W) / 2, H - 4, "middle", labels[0]));
    picture.append(text(edge + 6, 18, "start", labels[1]));
    const line = svg("polyline", {class: "drawn"}), knobs = xs.map((x, k) => {
        const knob = svg("circle", {cx: X(x), r: 9, tabindex: 0, role: "slider", class: "knob"});
        for (const [key, value] of Object.entries({
            "aria-label": `${labels[1]} at ${Number(x.toPrecision(3))}`,
            "aria-valuemin": low, "aria-valuemax": high})) knob.setAttribute(key, value);
        knob.onkeydown = event => {
            const by = {ArrowUp: step, ArrowDown: -step}[event.key];
            if (by) { event.preventDefault(); put(k, ys[k] + by); }
        };
        return knob;
    });
    function put(k, y) {
        ys[k] = Math.min(high, Math.max(low, y));
        show();
        ready();
    }
    function show() {
        line.setAttribute("points", xs.map((x, k) => `${X(x)},${Y(ys[k])}`).join(" "));
        knobs.forEach((knob, k) => {
            knob.setAttribute("cy", Y(ys[k]));
            knob.setAttribute("aria-valuenow", Number(ys[k].toPrecision(3)));
        });
    }
    const drag = event => {  // the knob nearest to the pointer follows it
        const area = picture.getBoundingClientRect(), scale = W / area.width;
        const x = (event.clientX - area.left) * scale, y = (event.clientY - area.top) * scale;
        const k = Math.round((x - X(left)) / (X(right) - X(left)) * (COUNT - 1));
        put(Math.min(COUNT - 1, Math.max(0, k)), high - (y - 8) / (H - 8 - foot) * (high - low));
    };
    picture.onpointerdown = event => { picture.setPointerCapture(event.pointerId); drag(event); };
    picture.onpointermove = event => event.buttons && drag(event);
    picture.append(line, ...knobs);
    show();
    const hint = element("p", {className: "hint"}, "Drag the points, or move them by the arrow keys.");
    const widget = element("div", {}, picture, hint);
    box.querySelector("details").before(widget);
    const measured = x => {  // between the points of the measured curve
        const k = Math.max(1, curve[0].findIndex(other => other >= x)), [a, b] = [k - 1, k];
        const share = (x - curve[0][a]) / (curve[0][b] - curve[0][a]);
        return curve[1][a] + share * (curve[1][b] - curve[1][a]);
    };
    return {
        widget,
        stays: true,  // the sketch stays in sight, and the measured curve joins it
        right: () => xs.every((x, k) => Math.abs(ys[k] - measured(x)) <= near),
        praise: "Your sketch follows the measured curve.",
        wrong: () => "Your sketch leaves the measured curve.",
        reveal() {
            const points = curve[0].map((x, k) => `${X(x)},${Y(curve[1][k])}`).join(" ");
            picture.append(svg("polyline", {class: "measured", points}));
            picture.onpointerdown = picture.onpointermove = null;
            knobs.forEach(knob => knob.remove());
            hint.innerHTML = "<b class='yours'>Your sketch</b>, <b>the measured curve</b>.";
            box.querySelectorAll("details > p:has(strong:only-child), img.picture").forEach(
                x => x.remove());  // the same curve once more, and its name
        },
    };
}

// ---- a prediction

// A motion begins when it is uncovered, also if its player has still to come (mount in player.js).
function start(el) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    el.plays = true;
    el.stage?.play(true);
}

function ask(box) {
    const fold = box.querySelector("details"), kind = box.querySelector("[data-form]");
    if (!fold || !kind) return;
    const given = JSON.parse(kind.dataset.form), bold = fold.querySelector("strong");
    const truth = bold.textContent.trim();
    const commit = element("button", {className: "commit", disabled: true}, "Commit");
    const show = element("button", {className: "show"}, "Just show me");
    const said = element("p", {className: "judged"}), buttons = element("p", {className: "ask"});
    said.setAttribute("aria-live", "polite");
    const ready = () => { commit.disabled = false; };
    const form = {choice, number, sketch}[given.kind](box, {...given, truth, ready});
    const uncover = answered => {
        if (!form.stays) form.widget.remove();
        form.mark?.(answered);
        form.reveal?.();
        buttons.remove();
        fold.querySelector("summary").remove();
        fold.replaceWith(element("div", {className: "measured"}, ...fold.childNodes));
        box.querySelectorAll(".nhlab-stage").forEach(start);
    };
    commit.onclick = () => {
        const doubt = form.doubt?.();
        if (doubt) {
            said.textContent = doubt;
            return;
        }
        const right = form.right();
        box.classList.add(right ? "came-true" : "did-not");
        count();
        said.innerHTML = right ? form.praise ?? "As you predicted:" : form.wrong();
        uncover(true);
    };
    show.onclick = () => { said.textContent = ""; box.classList.add("shown"); count(); uncover(false); };
    buttons.append(commit, show);
    fold.before(buttons, said);
    fold.hidden = true;
}

// ---- an exercise

const COUNTS = ["", "One number", "Two numbers", "Three numbers", "Four numbers", "Five numbers"];

function read_numbers(text) {  // "1/3, -2e-3" as numbers; NaN for what is none
    return text.split(/[,;]/).map(part => {
        const [a, b = "1", more] = part.trim().replace(/[()[\]]/g, "").split("/");
        return a.trim() && b.trim() && more === undefined ? Number(a) / Number(b) : NaN;
    });
}

const HELP = "The hints below help.";

function judge_numbers(said, {truth, near, turned, mistakes, otherwise}) {
    const same = (values, by) => {
        const size = Math.max(...values.map(Math.abs));
        return said.every((x, k) => Math.abs(x - values[k]) <= by * Math.abs(values[k]) + 1e-9 * size);
    };
    if (same(truth, near)) return "";
    const known = mistakes.find(([wrong]) => same(wrong, near));
    if (known) return known[1];
    if (turned && same(truth.map(x => -x), near)) return turned;
    if (same(truth, 10 * near)) return "Close, but not near enough: give more digits.";
    const size = Math.max(...truth.map(Math.abs));
    const right = said.filter((x, k) => Math.abs(x - truth[k]) <= near * Math.abs(truth[k]) + 1e-9 * size);
    const agree = right.length ? `${right.length} of the ${truth.length} numbers agree. ` : "";
    return agree + (otherwise || (agree ? "" : HELP));
}

function judge_names(said, {truth, mistakes, missing = []}) {
    const wrong = said.filter(x => !truth.includes(x)).sort();
    const left = truth.filter(x => !said.includes(x)).length;
    if (!wrong.length && !left) return "";
    const known = mistakes.find(([x]) => x === wrong[0]);
    if (known?.[1]) return known[1];
    if (!wrong.length && missing[left - 1]) return missing[left - 1];
    return truth.length === 1 ? "Another one is right." : `Of your choice ${wrong.length
        ? `${wrong.length} ${wrong.length > 1 ? "do" : "does"} not belong` : "all belong"}; ${left || "none"} missing.`;
}

function exercise(box, k) {
    const given = JSON.parse(new TextDecoder().decode(
        Uint8Array.from(atob(box.dataset.packed), x => x.charCodeAt(0))));
    const {kind, truth, known = []} = given, one = kind === "word";
    const field = element("input", {type: "text", autocomplete: "off"});
    const boxes = known.map(word => {
        const input = element("input", {type: one ? "radio" : "checkbox", name: `exercise-${k}`, value: word});
        return element("label", {}, input, element("span", {}, word));
    });
    const words = kind === "numbers" ? `${COUNTS[truth.length] ?? `${truth.length} numbers`}${
        truth.length > 1 ? ", separated by commas" : ""}`
        : one ? "Which one?" : known.length ? "Which of them?" : "Names, separated by commas";
    const said = element("p", {className: "judged"}), check = element("button", {className: "commit"}, "Check");
    said.setAttribute("aria-live", "polite");
    const list = () => boxes.length ? boxes.map(x => x.firstChild).filter(x => x.checked).map(x => x.value)
        : field.value.split(/[,;]/).map(x => x.replace(/["'{}]/g, "").trim()).filter(x => x);
    check.onclick = () => {
        const numbers = kind === "numbers" ? read_numbers(field.value) : null;
        const readable = numbers ? numbers.length === truth.length && numbers.every(Number.isFinite) : list().length;
        const wrong = !readable ? `${numbers ? "Write it as 0.5, 1/3 or 3e-4" : "Choose at least one"}: ${words.toLowerCase()}.`
            : numbers ? judge_numbers(numbers, given) : judge_names(list(), given);
        box.classList.toggle("came-true", !wrong);
        box.classList.toggle("did-not", Boolean(wrong));
        said.textContent = wrong ? `Not yet. ${wrong}` : "Right. The solution below says why.";
    };
    field.onkeydown = event => event.key === "Enter" && check.onclick();
    const ask = boxes.length ? element("fieldset", {}, element("legend", {}, words), ...boxes)
        : element("label", {}, `${words} `, field);
    box.append(ask, check, said);
}

function count() {  // as nh.predictions does in a notebook
    const number = which => document.querySelectorAll(`.predict${which}`).length;
    const [all, right] = [number(""), number(".came-true")];
    const left = all - right - number(".did-not") - number(".shown");
    for (const x of document.querySelectorAll(".tally"))
        x.textContent = `Your predictions: ${right} of ${all} as measured.${left ? ` ${left} still to make.` : ""}`;
}

document.querySelectorAll(".admonition.predict").forEach(ask);
count();
document.querySelectorAll(".exercise[data-packed]").forEach(exercise);

// ---- where a reader is in the course: lessons whose end was seen are remembered, on this device only

const READ = "nhlab-read";
function lessons_read() {
    try { return JSON.parse(localStorage.getItem(READ)) ?? []; } catch { return []; }
}
function show_progress() {
    const read = lessons_read();
    for (const x of document.querySelectorAll("nav.course a")) {
        const done = read.includes(x.dataset.lesson);
        x.classList.toggle("read", done);
        if (done && !x.title.endsWith("read")) x.title += ", read";
    }
}
const end = document.querySelector("nav.onward");
if (end) new IntersectionObserver(([seen], observer) => {
    if (!seen.isIntersecting) return;
    observer.disconnect();
    const lesson = end.dataset.lesson.slice(0, 2), read = lessons_read();
    try { localStorage.setItem(READ, JSON.stringify([...new Set([...read, lesson])])); } catch { /* private */ }
    show_progress();
}).observe(end);
show_progress();

// ---- where the window is wide, the row of lessons stays in sight above the text

const row = document.querySelector("nav.course"), bar = document.querySelector(".header-article-items__start");
if (row && bar && matchMedia("(min-width: 1000px)").matches) bar.append(row);

// ---- a picture stays beside the text that follows it, or leads to it, if that is long

const LONG = 600;  // characters; a formula counts as a few, whether it is set already or not
const flows = x => x && !x.matches("h1, h2, h3, section, details, .cell, .admonition, .exercise, :has(.live, .exercise, table)");
const long = blocks => blocks.reduce((sum, x) => {
    const formulas = x.matches(".math") ? [x] : [...x.querySelectorAll(".math")];
    return formulas.reduce((rest, y) => rest + (y.matches("div") ? 80 : 8) - y.textContent.length, sum + x.textContent.length);
}, 0) >= LONG;
function run_of_text(cell, way) {
    const found = [];
    for (let x = cell[way]; flows(x); x = x[way]) found.push(x);
    return way === "nextElementSibling" ? found : found.reverse();
}
for (const cell of document.querySelectorAll("body:has(nav.onward) .bd-article section > .cell")) {
    const outputs = cell.querySelectorAll(".cell_output > .output");
    if (outputs.length !== 1 || !outputs[0].querySelector("img.picture") || outputs[0].querySelector(".nhlab-stage")) continue;
    const after = run_of_text(cell, "nextElementSibling"), before = run_of_text(cell, "previousElementSibling");
    const beside = [after, before].find(long);
    if (!beside) continue;
    const text = element("div", {className: "text"}), group = element("div", {className: "beside"}, text);
    if (beside === after) cell.after(group); else cell.before(group);
    text.append(...beside);
    group.append(element("aside", {className: "stays"}, outputs[0].closest(".cell_output")));
}

// ---- a formula and the comma behind it are not parted by the end of a line

for (const formula of document.querySelectorAll(".bd-article span.math")) {
    const parts = [formula];
    if (formula.nextSibling?.nodeType === 1 && formula.nextSibling.matches(".paper")) parts.push(formula.nextSibling);
    const text = parts.at(-1).nextSibling, mark = text?.nodeType === 3 && /^[,.;:!?)\]’”]+/.exec(text.data);
    if (!mark) continue;
    text.splitText(mark[0].length);
    const together = element("span", {className: "together"});
    formula.before(together);
    together.append(...parts, text);
}

// ---- an equation that is wider than the window is scrolled by keys, too

addEventListener("load", () => window.MathJax?.startup?.promise.then(() => {
    for (const x of document.querySelectorAll("div.math")) {
        if (x.scrollWidth <= x.clientWidth) continue;
        x.tabIndex = 0;
        x.setAttribute("role", "group");
        x.setAttribute("aria-label", "A wide equation");
    }
}));

// ---- on paper: black on white, everything unfolded, every picture there

const page = document.documentElement;
addEventListener("beforeprint", () => {
    page.dataset.shown ??= page.dataset.theme;
    page.dataset.theme = "light";
    document.querySelectorAll("img[loading=lazy]").forEach(x => { x.loading = "eager"; });
    document.querySelectorAll("details:not([open])").forEach(x => { x.open = true; x.dataset.shut = ""; });
});
addEventListener("afterprint", () => {
    page.dataset.theme = page.dataset.shown ?? page.dataset.theme;
    delete page.dataset.shown;
    document.querySelectorAll("details[data-shut]").forEach(x => { x.open = false; delete x.dataset.shut; });
});
