/** Ids by the part of testssl.sh that reports them (its functions `run_*`), each of which has an option of its own. */
const PARTS: readonly (readonly [part: string, ids: RegExp])[] = [
  ['protocols', /^(?:SSLv[23]|TLS1(?:_\d)?|NPN|ALPN(?:_HTTP2)?|QUIC)$/],
  ['ciphers', /^cipherlist_/],
  ['forward-secrecy', /^(?:P?FS(?:_|$)|DH_groups)/],
  ['server-preferences', /^(?:cipher_?order|cipher_negotiated|protocol_negotiated|prioritize_)/],
  [
    'server-defaults',
    /^(?:TLS_|SSL_sessionID|sessionresumption|cert|OCSP|DNS_CAA|clientAuth|intermediate_cert)/,
  ],
  [
    'headers',
    /^(?:HTTP_|HSTS|HPKP|banner_|cookie_|security_headers|ipv4_in_header|[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]+)+$)/,
  ],
  ['rating', /^(?:rating_|overall_grade|grade_cap|[a-z_]+_score$|[a-z_]+_score_weighted$)/],
  ['cipher-tests', /^cipher[-_]/],
  ['client-simulations', /^clientsimulation-/],
];

/** @returns the group of a test; each vulnerability is one of its own: `BEAST` for `BEAST_CBC_TLS1` */
export function checksOfTest(id: string): string {
  return PARTS.find(([, ids]) => ids.test(id))?.[0] ?? id.replace(/[_\s-][^]*/, '');
}
