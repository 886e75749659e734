/**
 * Sends the form that signs out, with a token for the session as it is now: that of the page is of the session that it was
 * loaded in.
 */
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
    // The browser says itself that the server is away.
  }
  (form.elements.namedItem('_csrf') as HTMLInputElement).value = token;
  form.submit();
}
