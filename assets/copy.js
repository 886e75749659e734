// Adds a copy button to each text to copy. Without this script, or without access to the clipboard, users select the text.

if (navigator.clipboard !== undefined) document.querySelectorAll('[data-copy]').forEach(addButton);

function addButton(part) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button plain small';
  button.setAttribute('aria-label', part.dataset.label);
  button.textContent = 'Copy';
  const status = document.createElement('span');
  status.className = 'hint';
  status.setAttribute('role', 'status');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(part.dataset.copy);
      status.textContent = 'Copied';
    } catch {
      status.textContent = 'Your browser does not allow copying. Select the text and copy it.';
    }
  });
  const line = document.createElement('div');
  line.className = 'actions';
  line.append(button, status);
  part.append(line);
}
