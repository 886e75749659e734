import { locationOfTarget, webOriginOf, parseTarget } from '../../targets.ts';
import { isJsonObject, textOf } from '../../parsing/json-values.ts';
import { portNumberOf, protocolOf } from '../../parsing/scanned-hosts.ts';
import type { ReportedLocation, ScanTarget } from '../../report.ts';

/** Parses a DefectDojo endpoint: a URL, `host:port`, a host, or an object of their parts. */
export function endpointOf(value: unknown): { target: ScanTarget; location: ReportedLocation } | undefined {
  const target = isJsonObject(value) ? ofParts(value) : ofText(textOf(value) ?? '');
  return target === undefined ? undefined : { target, location: locationOfTarget(target) };
}

function ofText(text: string): ScanTarget | undefined {
  if (/^[a-z][a-z0-9+.-]{0,30}:\/\//i.test(text)) {
    if (webOriginOf(text) !== undefined) return { url: text };
    // Other URLs at least name a host: `tcp://192.0.2.1:25`.
    const [, host = '', port] =
      /^[^:]+:\/\/(?:[^@/?#]*@)?(\[[^\]]+\]|[^:/?#]+)(?::(\d{1,5}))?/.exec(text) ?? [];
    return hostAt(host, port, text.split(':')[0]);
  }
  const [, host = text, port] = /^(\[[^\]]+\]|[^:/?#]+):(\d{1,5})$/.exec(text) ?? [];
  return hostAt(host.replace(/[/?#][^]*/, ''), port, undefined);
}

function ofParts(parts: Readonly<Record<string, unknown>>): ScanTarget | undefined {
  const host = textOf(parts.host) ?? '';
  const scheme = textOf(parts.protocol)?.toLowerCase();
  const port = portNumberOf(parts.port);
  if (scheme !== 'http' && scheme !== 'https') return hostAt(host, port, scheme);
  const path = (textOf(parts.path) ?? '').replace(/^\/*/, '/');
  const query = textOf(parts.query);
  const authority = `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`;
  const url = `${scheme}://${authority}${path}${query === undefined ? '' : `?${query}`}`;
  return webOriginOf(url) === undefined ? hostAt(host, port, undefined) : { url };
}

function hostAt(text: string, port: unknown, scheme: string | undefined): ScanTarget | undefined {
  const target = parseTarget(text.replace(/^\[(.*)\]$/, '$1'));
  if (target === undefined || !('host' in target)) return undefined;
  const number = portNumberOf(port);
  return number === undefined ? target : { ...target, port: number, protocol: protocolOf(scheme) ?? 'tcp' };
}
