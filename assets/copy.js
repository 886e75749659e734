// Puts a button beside what is there to copy. Without this, or where a browser keeps its clipboard, the text is selected
// by hand.

if (navigator.clipboard !== undefined) document.querySelectorAll('[data-copy]').forEach(addButton);

function addButton(part) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain small';
  button.setAttribute('aria-label', part.dataset.label);
  button.textContent = 'Copy';
  const told = document.createElement('span');
  told.className = 'hint';
  told.setAttribute('role', 'status');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(part.dataset.copy);
      told.textContent = 'Copied';
    } catch {
      told.textContent = 'Your browser does not allow it: select the text, and copy it.';
    }
  });
  const line = document.createElement('div');
  line.className = 'copy';
  line.append(button, told);
  part.append(line);
}
