/** Submits the sign-out form with a CSRF token of the current session, as the page may be of an older one. */
export async function submitSignOut(form: HTMLFormElement): Promise<void> {
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
  (form.elements.namedItem('_csrf') as HTMLInputElement).value = token;
  form.submit();
}
