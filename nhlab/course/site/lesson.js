// Predictions as forms, asked and judged in the page without Python.
//
// A page has each as a question, its choices as a list, and a fold with what was measured, which
// begins with the truth in bold; so it is read where scripts do not run.  `data-form` says how it
// is answered: {kind: "choice"}, {kind: "number", unit, near}, {kind: "sketch", labels, limits,
// near, curve}.

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
        right: () => chosen().lastChild.textContent.trim() === truth,
        wrong: () => `You predicted: ${chosen().lastChild.innerHTML}. Measured:`,
    };
}

function number(box, {unit, near, truth, ready}) {
    const field = element("input", {type: "text", inputMode: "decimal", oninput: ready});
    const said = () => Number(field.value.replace(",", "."));
    const widget = element("label", {className: "number"}, "Your answer ", field, ` ${unit}`);
    box.querySelector("details").before(widget);
    return {
        widget,
        valid: () => field.value.trim() !== "" && Number.isFinite(said()),
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
    const uncover = () => {
        if (!form.stays) form.widget.remove();
        form.reveal?.();
        buttons.remove();
        fold.querySelector("summary").remove();
        fold.replaceWith(element("div", {className: "measured"}, ...fold.childNodes));
    };
    commit.onclick = () => {
        if (form.valid && !form.valid()) {
            said.textContent = "That is no number; write it as 0.5 or 3e-4.";
            return;
        }
        const right = form.right();
        box.classList.add(right ? "came-true" : "did-not");
        said.innerHTML = right ? form.praise ?? "As you predicted:" : form.wrong();
        uncover();
    };
    show.onclick = () => { said.textContent = ""; uncover(); };
    buttons.append(commit, show);
    fold.before(buttons, said);
    fold.hidden = true;
}

document.querySelectorAll(".admonition.predict").forEach(ask);
