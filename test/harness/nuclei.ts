export interface NucleiFinding {
  rule: string;
  name: string;
  severity: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** @returns a Nuclei report of findings on one host, a URL for each rule */
export const nucleiReport = (findings: readonly NucleiFinding[]): string =>
  findings
    .map(({ rule, name, severity, at }) =>
      JSON.stringify({
        'template-id': rule,
        type: 'http',
        host: 'https://acme.example',
        'matched-at': `https://acme.example/${rule}`,
        info: { name, severity, description: `Description: ${name}.` },
        timestamp: new Date(at).toISOString(),
      }),
    )
    .join('\n');
