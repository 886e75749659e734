const REQUEST_LINE = /^([A-Z]{3,20}) (\S+) HTTP\/[\d.]{1,3}$/;
const HEADER = /^([\w!#$%&'*+.^`|~-]+):(.*)$/s;
/** Characters that a terminal may act on when they are pasted. */
const CONTROL = /(?![\n\t])\p{Cc}/u;
/** curl sets these itself. */
const OMITTED = new Set(['host', 'content-length']);

/**
 * Converts an HTTP request to a curl command for bash or zsh. HTTPS is assumed unless the port is 80.
 * @returns undefined for a text that is not a request, or that does not name a valid host
 */
export function curlCommand(text: string): string | undefined {
  const [head = ''] = text.split(/\r?\n\r?\n/, 1);
  const [firstLine = '', ...lines] = head.split(/\r?\n/);
  const [, method, target] = REQUEST_LINE.exec(firstLine) ?? [];
  if (method === undefined || target === undefined) return undefined;
  const headers = lines.flatMap((line) => {
    const [, name, value] = HEADER.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value: value.trimStart() }];
  });
  const url = urlOf(target, headers.find(({ name }) => name.toLowerCase() === 'host')?.value.trim());
  if (url === undefined) return undefined;
  const body = text
    .slice(head.length)
    .replace(/^\r?\n\r?\n/, '')
    .trimEnd();
  const options = [
    quote(url),
    // curl would expand these characters, and resolve the dots.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    ...(url.includes('/.') ? ['--path-as-is'] : []),
    ...methodOptions(method, body),
    ...headers
      .filter(({ name }) => !OMITTED.has(name.toLowerCase()))
      .map(({ name, value }) => `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(body === '' ? [] : [`--data-raw ${quote(body)}`]),
  ];
  return `curl ${options.join(' \\\n  ')}`;
}

function urlOf(target: string, host: string | undefined): string | undefined {
  if (/^https?:\/\//i.test(target)) return target;
  if (
    host === undefined ||
    !target.startsWith('/') ||
    !/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)
  )
    return undefined;
  return `${host.endsWith(':80') ? 'http' : 'https'}://${host}${target}`;
}

function methodOptions(method: string, body: string): string[] {
  if (method === 'HEAD') return ['--head'];
  return method === (body === '' ? 'GET' : 'POST') ? [] : [`-X ${method}`];
}

/** Quotes a text for the shell; control characters become escape sequences, so that a terminal does not act on them. */
function quote(text: string): string {
  if (!CONTROL.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = text.replaceAll(/(?!\n)\p{Cc}|[\\'!]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x80
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `$'${escaped}'`;
}
