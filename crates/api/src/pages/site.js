
// The page is whole without this: it shows addresses as they are, one sample at a time, and copies.
"use strict";
const every = (selector, within = document) => [...within.querySelectorAll(selector)];
const element = (name, properties) => Object.assign(document.createElement(name), properties);

for (const place of every("[data-origin]")) place.textContent = location.origin;
if ("sandbox" in document.documentElement.dataset) {
  for (const code of every("pre code")) {
    code.textContent = code.textContent.replaceAll("http://127.0.0.1:8080", location.origin);
  }
}

function choose(language) {
  for (const tab of every("[role=tab]")) {
    const group = tab.closest(".samples");
    if (!every("[role=tab]", group).some((other) => other.textContent === language)) continue;
    const chosen = tab.textContent === language;
    tab.ariaSelected = chosen;
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
}

every(".samples").forEach((group, n) => {
  const figures = every("figure", group);
  if (figures.length < 2) return;
  const tabs = element("div", { className: "tabs", role: "tablist", ariaLabel: "Language" });
  figures.forEach((figure, m) => {
    const caption = figure.querySelector("figcaption");
    figure.id = `sample-${n}-${m}`;
    figure.role = "tabpanel";
    figure.ariaLabel = caption.textContent;
    const tab = element("button", { type: "button", role: "tab", textContent: caption.textContent });
    tab.setAttribute("aria-controls", figure.id);
    tab.onclick = () => choose(tab.textContent);
    tabs.append(tab);
    caption.remove();
  });
  tabs.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const all = every("[role=tab]", tabs);
    const next = all.at((all.indexOf(event.target) + step) % all.length);
    choose(next.textContent);
    next.focus();
  };
  group.prepend(tabs);
  choose(tabs.firstChild.textContent);
});

if (navigator.clipboard) {
  for (const figure of every(".samples figure")) {
    const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
    button.onclick = async () => {
      await navigator.clipboard.writeText(figure.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    };
    figure.append(button);
  }
}
