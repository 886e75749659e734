/** Signs out, with a CSRF token of the current session, as the page may be of an older one. */
export async function signOut(): Promise<void> {
  let token = document.querySelector<HTMLMetaElement>('meta[name="form-token"]')?.content ?? '';
  try {
    const response = await fetch('/', { cache: 'no-store' });
    if (new URL(response.url).pathname === '/sign-in') {
      location.assign('/sign-in');
      return;
    }
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    token = page.querySelector<HTMLMetaElement>('meta[name="form-token"]')?.content ?? token;
  } catch {
    // Offline: submitting the form shows the browser's own error page.
  }
  const field = Object.assign(document.createElement('input'), {
    type: 'hidden',
    name: '_csrf',
    value: token,
  });
  const form = Object.assign(document.createElement('form'), { method: 'post', action: '/sign-out' });
  form.append(field);
  // Browsers submit only forms in the document, and the menu with the button is no longer in it.
  document.body.append(form);
  form.submit();
}
