import { describe, expect, it } from 'vitest';
import {
  canonicalUrl,
  identityOf,
  locationKeyOf,
  assetOfTarget,
  scanScopeKeyOf,
  locationOfTarget,
  parseTarget,
  webOriginOf,
} from '../../src/importers/targets.ts';
import type { ReportedFinding } from '../../src/importers/report.ts';

const finding = (overrides: Partial<ReportedFinding>): ReportedFinding => ({
  rule: 'R1',
  title: 'A title',
  severity: 'High',
  ...overrides,
});
const identity = (overrides: Partial<ReportedFinding>, source = 'zap') =>
  identityOf(finding(overrides), source);

describe('the asset of a finding', () => {
  it.each([
    [{ url: 'https://Example.com:443/a?b#c' }, { type: 'webapp', location: 'https://example.com/' }],
    [{ url: 'https://example.com:8443/a' }, { type: 'webapp', location: 'https://example.com:8443/' }],
    [{ url: 'http://[2001:DB8::1]:80/' }, { type: 'webapp', location: 'http://[2001:db8::1]/' }],
    [{ url: 'http://user:pass@example.com' }, { type: 'webapp', location: 'http://example.com/' }],
    [{ host: '2001:DB8:0::1' }, { type: 'host', location: '2001:db8::1' }],
    [{ host: '[fe80::1%eth0]' }, { type: 'host', location: 'fe80::1' }],
    [{ host: 'WWW.Example.com.' }, { type: 'host', location: 'www.example.com' }],
    [{ host: 'no host' }, undefined],
    [{ url: 'ftp://example.com/' }, undefined],
    [{ url: 'not a url' }, undefined],
    [{ artifact: 'image:latest', path: 'a' }, undefined],
    [undefined, undefined],
  ])('of %j is %j', (target, asset) => {
    expect(assetOfTarget(target) ?? undefined).toEqual(asset);
  });
});

describe('the identity of a finding', () => {
  it('depends on source, rule, asset and location only', () => {
    const target = { host: '192.0.2.1', port: 443 };
    const original = identity({ target });
    expect(original).toMatch(/^[\w-]{22}$/);
    const irrelevant = {
      title: 'Another',
      severity: 'Low',
      description: 'x',
      evidence: ['y'],
      seenAt: 5,
    } as const;
    expect(identity({ target: { ...target, protocol: 'tcp' }, ...irrelevant })).toBe(original);
    const variants = [
      identity({ target }, 'burp'),
      identity({ target, rule: 'R2' }),
      identity({ target: { ...target, port: 80 } }),
      identity({ target: { ...target, protocol: 'udp' } }),
      identity({ target: { host: '192.0.2.1' } }),
      identity({ target: { host: '192.0.2.2', port: 443 } }),
      identity({ target, locationKey: 'x' }),
      identity({ target: { url: 'https://192.0.2.1/' } }),
      identity({ target: undefined }),
    ];
    expect(new Set([original, ...variants]).size).toBe(10);
  });

  it('is the same for all instances on one site', () => {
    const at = (url: string) => identity({ target: { url } });
    expect(at('https://example.com/a?sid=1')).toBe(at('https://EXAMPLE.com:443/b#x'));
    expect(at('https://example.com/')).not.toBe(at('http://example.com/'));
  });

  it('is the fingerprint, if there is one', () => {
    const original = identity({ fingerprint: 'f', target: { host: '192.0.2.1' } });
    expect(identity({ fingerprint: 'f', target: { host: '192.0.2.2' }, rule: 'R2' })).toBe(original);
    expect(identity({ fingerprint: 'g' })).not.toBe(original);
    expect(identity({ fingerprint: 'f' }, 'other')).not.toBe(original);
  });

  it('distinguishes locations with one and two parts', () => {
    const at = (path: string, name: string) => identity({ target: { artifact: 'x', path, package: name } });
    expect(at('a', 'b')).not.toBe(at('a,b', ''));
    expect(locationKeyOf({ target: { url: 'https://example.com/a' } })).toBe('');
  });
});

it('coverageKeyOf: the site, host or artifact of a target', () => {
  expect(scanScopeKeyOf({ url: 'https://192.0.2.1:8443/a' })).toEqual({
    key: 'site:https://192.0.2.1:8443/',
    host: '192.0.2.1',
    ports: '',
  });
  expect(scanScopeKeyOf({ url: 'http://[2001:db8::1]/' })?.host).toBe('2001:db8::1');
  expect(scanScopeKeyOf({ host: 'Example.com', port: 1 })).toEqual({
    key: 'host:example.com',
    host: 'example.com',
    ports: 'tcp/1',
  });
  expect(scanScopeKeyOf({ artifact: 'Image' })).toEqual({ key: 'artifact:Image', host: null, ports: '' });
  expect(scanScopeKeyOf({ host: 'a b' })).toBeNull();
  expect(scanScopeKeyOf(undefined)).toBeNull();
});

it('a target is named by a URL, an address or a host name', () => {
  expect(parseTarget(' https://example.com/a ')).toEqual({ url: 'https://example.com/a' });
  expect(parseTarget('Example.com.')).toEqual({ host: 'example.com' });
  expect(parseTarget('2001:DB8::1')).toEqual({ host: '2001:db8::1' });
  expect(parseTarget('192.0.2.0/24')).toBeUndefined();
  expect(parseTarget('https://')).toBeUndefined();
});

it('locationOf: the location of a target', () => {
  expect(locationOfTarget({ host: '192.0.2.1', port: 53, protocol: 'udp' })).toEqual({
    type: 'ip',
    value: 'udp://192.0.2.1:53',
    address: '192.0.2.1',
    port: 53,
    protocol: 'udp',
  });
  expect(locationOfTarget({ artifact: 'image', path: 'a/b' })).toEqual({ type: 'file', value: 'image: a/b' });
});

it.each([
  ['HTTP://Example.com:80/a?b=2&a=1#x', 'http://example.com/a?a=1&b=2'],
  ['https://u:p@example.com/a;jsessionid=ABC/b?PHPSESSID=1&q=2&csrf_token=3', 'https://example.com/a/b?q=2'],
  ['https://example.com/?nonce=1', 'https://example.com/'],
  ['not a url', 'not a url'],
])('the URL %s is normalized to %s', (url, stable) => {
  expect(canonicalUrl(url)).toBe(stable);
  expect(webOriginOf('not a url')).toBeUndefined();
});

it('does not depend on how many URLs were read before', () => {
  // Some functions of Node.js become wrong once V8 optimizes them, after some thousand calls.
  const keys = Array.from({ length: 20_000 }, () => canonicalUrl('https://b\u00fcro.example/?b=1&a=2'));
  expect(new Set(keys)).toEqual(new Set([canonicalUrl('https://xn--bro-hoa.example/?a=2&b=1')]));
});
