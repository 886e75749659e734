/** Decodes HTML character references; unknown ones stay. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, (match, name: string) => {
    if (!name.startsWith('#')) return HTML_ENTITIES.get(name) ?? match;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const isValid = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isValid ? String.fromCodePoint(code) : '�';
  });
}

/** The named character references that reports use (WHATWG HTML, section 13.5), with their hexadecimal code points. */
const CODES = `
  nbsp:a0 amp:26 lt:3c gt:3e quot:22 apos:27 copy:a9 reg:ae trade:2122 deg:b0 plusmn:b1 micro:b5
  para:b6 sect:a7 middot:b7 bull:2022 hellip:2026 prime:2032 Prime:2033 lsquo:2018 rsquo:2019
  sbquo:201a ldquo:201c rdquo:201d bdquo:201e laquo:ab raquo:bb lsaquo:2039 rsaquo:203a ndash:2013
  mdash:2014 minus:2212 times:d7 divide:f7 frac12:bd frac14:bc frac34:be sup1:b9 sup2:b2 sup3:b3
  ordm:ba ordf:aa iexcl:a1 iquest:bf cent:a2 pound:a3 yen:a5 euro:20ac curren:a4 brvbar:a6 uml:a8
  not:ac shy:ad macr:af acute:b4 cedil:b8 larr:2190 uarr:2191 rarr:2192 darr:2193 harr:2194 rArr:21d2
  lArr:21d0 hArr:21d4 ne:2260 le:2264 ge:2265 equiv:2261 asymp:2248 infin:221e sum:2211 radic:221a
  ensp:2002 emsp:2003 thinsp:2009 zwnj:200c zwj:200d lrm:200e rlm:200f dagger:2020 Dagger:2021
  permil:2030 circ:2c6 tilde:2dc szlig:df AElig:c6 aelig:e6 OElig:152 oelig:153 Oslash:d8 oslash:f8
  Aring:c5 aring:e5 Ccedil:c7 ccedil:e7 ETH:d0 eth:f0 THORN:de thorn:fe Ntilde:d1 ntilde:f1 Agrave:c0
  Aacute:c1 Acirc:c2 Atilde:c3 Auml:c4 agrave:e0 aacute:e1 acirc:e2 atilde:e3 auml:e4 Egrave:c8
  Eacute:c9 Ecirc:ca Euml:cb egrave:e8 eacute:e9 ecirc:ea euml:eb Igrave:cc Iacute:cd Icirc:ce Iuml:cf
  igrave:ec iacute:ed icirc:ee iuml:ef Ograve:d2 Oacute:d3 Ocirc:d4 Otilde:d5 Ouml:d6 ograve:f2
  oacute:f3 ocirc:f4 otilde:f5 ouml:f6 Ugrave:d9 Uacute:da Ucirc:db Uuml:dc ugrave:f9 uacute:fa
  ucirc:fb uuml:fc Yacute:dd yacute:fd yuml:ff Scaron:160 scaron:161 Yuml:178 fnof:192 alpha:3b1
  beta:3b2 gamma:3b3 delta:3b4 Delta:394 epsilon:3b5 lambda:3bb mu:3bc pi:3c0 sigma:3c3 Sigma:3a3
  tau:3c4 omega:3c9 Omega:3a9 lpar:28 rpar:29 lsqb:5b rsqb:5d lbrack:5b rbrack:5d lcub:7b rcub:7d
  colon:3a semi:3b comma:2c period:2e excl:21 num:23 dollar:24 percnt:25 ast:2a plus:2b equals:3d
  quest:3f commat:40 bsol:5c sol:2f lowbar:5f grave:60 vert:7c NewLine:a Tab:9
`;

const HTML_ENTITIES: ReadonlyMap<string, string> = new Map(
  CODES.trim()
    .split(/\s+/)
    .map((entry) => {
      const [name = '', code = ''] = entry.split(':');
      return [name, String.fromCodePoint(Number.parseInt(code, 16))];
    }),
);
