import { send, type TestServer } from './server.ts';

export interface FormPage {
  status: number;
  headers: Headers;
  text: string;
  /** The absolute URL of a redirect; `undefined` for other responses. */
  location: string | undefined;
}

/** A browser without JavaScript: cookies, pages and forms. It follows redirects only on request. */
export interface FormClient {
  cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<FormPage>;
  /** Sends fields as a form without loading the page first, so without `_csrf`. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<FormPage>;
  /**
   * Submits the form on a page: its hidden fields, the given fields, and the button whose name is among them.
   * @param action of the form, if the page has several
   */
  submit(
    page: FormPage & { url: string },
    fields: Record<string, string>,
    action?: string,
  ): Promise<FormPage>;
  /** Loads a page for `submit`, following redirects of this server. */
  open(path: string): Promise<FormPage & { url: string }>;
  signIn(email: string, password: string, to?: string): Promise<FormPage>;
}

export function createFormClient({ origin }: Pick<TestServer, 'origin'>): FormClient {
  const cookies = new Map<string, string>();

  const visit = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    raw?: string,
  ): Promise<FormPage> => {
    const url = new URL(path, origin);
    const response = await send(url.origin, method, url.pathname + url.search, {
      headers: { ...headers, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      raw,
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      if (/expires=thu, 01 jan 1970|max-age=0/i.test(cookie)) cookies.delete(name);
      else cookies.set(name, pair.slice(name.length + 1));
    }
    const location = response.headers.get('location');
    return {
      status: response.status,
      headers: response.headers,
      text: response.text,
      location: location === null ? undefined : new URL(location, url).href,
    };
  };

  const visitor: FormClient = {
    cookies,
    get: (path, headers = {}) => visit('GET', path, headers),
    post: (path, fields, headers = {}) =>
      visit(
        'POST',
        path,
        { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        new URLSearchParams(fields).toString(),
      ),
    async open(path) {
      let url = new URL(path, origin).href;
      let page = await visitor.get(url);
      while (page.location?.startsWith(origin)) {
        url = page.location;
        page = await visitor.get(url);
      }
      return { ...page, url };
    },
    async submit(page, fields, action) {
      const form = parseForms(page.text).find(
        (candidate) => action === undefined || candidate.action === action,
      );
      if (form === undefined) throw new Error(`There is no form ${action ?? ''} on ${page.url}.`);
      return visitor.post(new URL(form.action ?? page.url, page.url).href, { ...form.hidden, ...fields });
    },
    async signIn(email, password, to) {
      const page = await visitor.open(`/sign-in${to === undefined ? '' : `?to=${encodeURIComponent(to)}`}`);
      return visitor.submit(page, { email, password }, '/sign-in');
    },
  };
  return visitor;
}

/** The forms of a page, with their actions and hidden fields. */
function parseForms(html: string): { action: string | undefined; hidden: Record<string, string> }[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', body = '']) => ({
    action: attribute(head, 'action'),
    hidden: Object.fromEntries(
      [...body.matchAll(/<input type="hidden"([^>]*)\/?>/g)].map(([, text = '']) => [
        attribute(text, 'name') ?? '',
        attribute(text, 'value') ?? '',
      ]),
    ),
  }));
}

function attribute(text: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1];
  return value
    ?.replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
