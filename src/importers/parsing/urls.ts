import { parseUntrustedUrl } from '../../lib/parse-untrusted-url.ts';

/** @returns the parsed URL if it is http or https */
export function parseWebUrl(text: string | undefined): URL | undefined {
  if (text === undefined || !/^https?:\/\//i.test(text)) return undefined;
  return parseUntrustedUrl(text) ?? undefined;
}

/** @returns the distinct http and https URLs in text or HTML, without surrounding punctuation */
export function extractUrls(text: string | undefined): string[] {
  const urls = text?.match(/https?:\/\/[^\s<>"'\\^`{|}]+/gi) ?? [];
  return [
    ...new Set(urls.map((url) => url.replace(/(?<![.,;:!?)\]])[.,;:!?)\]]+$/, '').replaceAll('&amp;', '&'))),
  ];
}

/** Decodes the percent-encoding of a text; returns it unchanged if it is invalid. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
