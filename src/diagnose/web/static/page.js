// What a page can do beyond plain HTML; everything works without it.
"use strict";

for (const form of document.querySelectorAll("form.paste")) enhance(form);
for (const button of document.querySelectorAll("button.copy")) copier(button);
document.addEventListener("click", openTarget);
window.addEventListener("hashchange", () => reveal(location.hash));
reveal(location.hash);
showCulprit();

function enhance(form) {
  const area = form.querySelector("textarea");
  const file = form.querySelector("input[name=file]");
  const remove = form.querySelector(".remove");
  const problem = form.querySelector(".problem");
  const drop = form.querySelector(".drop");

  form.querySelector("kbd").hidden = false;
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button.primary"));
    }
  });

  // A dropped file is sent as a file: the server knows more encodings than a text area.
  const carriesFile = (event) => event.dataTransfer && event.dataTransfer.types.includes("Files");
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      if (!carriesFile(event)) return;
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  for (const kind of ["dragleave", "drop"]) {
    drop.addEventListener(kind, () => drop.classList.remove("over"));
  }
  drop.addEventListener("drop", (event) => {
    if (!carriesFile(event) || event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    const one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    file.files = one.files;
    file.dispatchEvent(new Event("change", { bubbles: true }));
    form.querySelector("button.primary").focus();
  });

  const show = () => {
    const chosen = file.files[0];
    const tooLarge = chosen !== undefined && chosen.size > Number(form.dataset.maxBytes);
    problem.textContent = tooLarge ? problem.dataset.tooLarge : "";
    problem.hidden = !tooLarge;
    remove.hidden = chosen === undefined;
    area.classList.toggle("unused", chosen !== undefined);
    return !tooLarge;
  };
  file.addEventListener("change", show);
  remove.addEventListener("click", () => {
    file.value = "";
    show();
    area.focus();
  });
  form.addEventListener("submit", (event) => {
    if (!show()) event.preventDefault();
  });
  show(); // a browser restores a chosen file on "back"
}

function copier(button) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await copy(document.getElementById(button.dataset.copy));
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; }, 1600);
  });
}

async function copy(element) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return;
    } catch { /* refused: the older way below needs no permission */ }
  }
  const closed = element.closest("details:not([open])");
  if (closed) closed.open = true; // only what is shown can be selected
  getSelection().selectAllChildren(element);
  document.execCommand("copy");
}

// A link to a line or a cause inside a closed part opens it first.
function openTarget(event) {
  const link = event.target.closest("a[href^='#']");
  if (link) reveal(link.getAttribute("href"));
}

function reveal(hash) {
  const target = hash.length > 1 ? document.getElementById(hash.slice(1)) : null;
  if (!target) return;
  if (target.tagName === "DETAILS") target.open = true;
  for (let up = target.closest("details:not([open])"); up; up = up.parentElement.closest("details:not([open])")) {
    up.open = true;
  }
}

// A long input opens at the line at fault, without moving the page.
function showCulprit() {
  const lines = document.querySelector(".input .lines");
  const row = lines && lines.querySelector(".is-culprit, .is-error");
  if (row) lines.scrollTop = row.offsetTop - lines.clientHeight / 2;
}
