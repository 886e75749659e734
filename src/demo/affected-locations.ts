import type { HostVulnerabilityTemplate, VulnerabilityTemplate } from './vulnerability-templates.ts';

export interface DemoEndpoint {
  name: string;
  /** Product of the endpoint. Its web application is an asset. */
  product: string;
  path: string;
  parameter: string;
  record: string;
}

export type TemplateValues = Readonly<
  Record<'target' | 'host' | 'path' | 'parameter' | 'record' | 'address' | 'port', string>
>;

export function fillTemplate(text: string, values: TemplateValues): string {
  return text.replace(
    /\{(target|host|path|parameter|record|address|port)\}/g,
    (_all, word: keyof TemplateValues) => values[word],
  );
}

/** Returns the host name of a product, without its domain. */
export function toHostName(product: string): string {
  return product.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** A template with values for its placeholders, and a location. */
export interface DemoFinding {
  template: VulnerabilityTemplate;
  values: TemplateValues;
  /** Location of the affected asset. */
  asset: string;
  location: { type: 'url' | 'ip' | 'app-location'; value: string; port?: number };
}

/**
 * Returns findings in web applications. Pairs of template and endpoint do not repeat while `templates.length + 1` and
 * `endpoints.length` are coprime.
 * @param base number of findings returned by earlier calls
 */
export function findingsAtEndpoints(
  templates: readonly VulnerabilityTemplate[],
  endpoints: readonly DemoEndpoint[],
  domain: string,
  count: number,
  base = 0,
): DemoFinding[] {
  return Array.from({ length: count }, (_, index): DemoFinding => {
    const number = index + base;
    const round = Math.floor(number / templates.length);
    const endpoint = endpoints[(number + round) % endpoints.length] as DemoEndpoint;
    const host = `${toHostName(endpoint.product)}.${domain}`;
    const { name, path, parameter, record } = endpoint;
    return {
      template: templates[number % templates.length] as VulnerabilityTemplate,
      values: { target: name, host, path, parameter, record, address: host, port: '443' },
      asset: `https://${host}`,
      location: { type: 'url', value: `https://${host}${path}` },
    };
  });
}

export interface DemoHost {
  name: string;
  address: string;
}

/**
 * Returns findings on hosts. No pair of template and host repeats before all have occurred, if `hosts.length` is
 * coprime to 5 and to `templates.length`.
 */
export function findingsOnHosts(
  templates: readonly HostVulnerabilityTemplate[],
  hosts: readonly DemoHost[],
  count: number,
): DemoFinding[] {
  return Array.from({ length: count }, (_, index): DemoFinding => {
    const template = templates[index % templates.length] as HostVulnerabilityTemplate;
    const { name: host, address } = hosts[(index * 5) % hosts.length] as DemoHost;
    return {
      template,
      values: {
        target: host,
        host,
        path: '/',
        parameter: '',
        record: '',
        address,
        port: String(template.port),
      },
      asset: address,
      location: { type: 'ip', value: address, port: template.port },
    };
  });
}

/** Returns a finding per template and application. */
export function findingsInApplications(
  templates: readonly VulnerabilityTemplate[],
  applications: readonly string[],
): DemoFinding[] {
  return applications.flatMap((application) =>
    templates.map((template): DemoFinding => ({
      template,
      values: {
        target: application,
        host: application,
        path: '',
        parameter: '',
        record: '',
        address: '',
        port: '',
      },
      asset: application,
      location: { type: 'app-location', value: application },
    })),
  );
}
