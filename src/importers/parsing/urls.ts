/** @returns the URL as WHATWG writes it, when it is one of a web site */
export function parseWebUrl(text: string | undefined): URL | undefined {
  if (text === undefined || !/^https?:\/\//i.test(text)) return undefined;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** @returns the URLs of web sites that stand in a text or in HTML, each once, without the sentence around them */
export function extractUrls(text: string | undefined): string[] {
  const found = text?.match(/https?:\/\/[^\s<>"'\\^`{|}]+/gi) ?? [];
  return [
    ...new Set(found.map((url) => url.replace(/(?<![.,;:!?)\]])[.,;:!?)\]]+$/, '').replaceAll('&amp;', '&'))),
  ];
}
