import { extractCveIds } from '../../parsing/vulnerability-ids.ts';
import { textToMarkdown } from '../../parsing/text-to-markdown.ts';
import { withoutVersions } from '../../parsing/versions.ts';
import { extractUrls, parseWebUrl } from '../../parsing/urls.ts';
import type { SourceLocation, ReportRecord } from '../../report.ts';
import { foldCase } from '../../../lib/fold-case.ts';

/** A result at one URL, in every form of the report. */
export interface NiktoItem {
  id: string | undefined;
  method: string | undefined;
  uri: string | undefined;
  /** The complete URL, if the report has it. */
  link: string | undefined;
  message: string | undefined;
  references: string | undefined;
  osvdb: string | undefined;
}

/** Nikto does not rate its results. */
const SEVERITY = 'Informational';

/** @param origin of the site; `undefined` if the report does not name it */
export function recordOfNiktoItem(
  item: NiktoItem,
  origin: string | undefined,
  location: SourceLocation,
): ReportRecord {
  const { id, method, uri = '/', link, message, references, osvdb = '0' } = item;
  if (message === undefined) return { kind: 'unreadable', reason: 'no message', location };
  // Nikto reports a missing web server this way.
  if (origin === undefined) return { kind: 'skipped', reason: 'no site', location };
  const text = messageOf(message, uri);
  const url =
    parseWebUrl(link) ?? parseWebUrl(uri) ?? parseWebUrl(`${origin}${uri.startsWith('/') ? uri : `/${uri}`}`);
  const osvdbId = /^0*$/.test(osvdb) ? [] : [`OSVDB-${osvdb}`];
  return {
    kind: 'finding',
    finding: {
      rule: id === undefined || /^0*$/.test(id) ? withoutVersions(text) || foldCase(text) : id,
      title: text,
      severity: SEVERITY,
      description: textToMarkdown([text, ...osvdbId].join('\n\n')),
      cveIds: extractCveIds([message, references].join(' ')),
      referenceUrls: [...extractUrls(references), ...extractUrls(/\sSee: (.*)/.exec(message)?.[1])],
      target: { url: origin },
      ...(url === undefined ? {} : { locations: [{ type: 'url', value: url.href }] }),
      evidence: [`${method ?? 'GET'} ${url?.href ?? uri}\n\n${message}`],
    },
    location,
  };
}

/** Since 2.5 the path may precede the message, and a reference may follow it. */
function messageOf(message: string, uri: string): string {
  const bare = message.replace(/\sSee: https?:\/\/.*/, '');
  const prefix = [`${uri}:`, '/:', ':'].find((candidate) => bare.startsWith(candidate));
  return (prefix === undefined ? '' : bare.slice(prefix.length).trim()) || bare;
}
