import type { HostVulnerabilityTemplate } from './vulnerability-templates/network.ts';
import type { VulnerabilityTemplate } from './vulnerability-templates/template.ts';

/** A part of a web application in which something may be found. */
export interface DemoEndpoint {
  name: string;
  /** The product that it is a part of: its web application is an asset. */
  product: string;
  path: string;
  parameter: string;
  /** What it is about. */
  record: string;
}

/** Where a weakness was found: the words that its texts leave open. */
export type TemplateValues = Readonly<
  Record<'place' | 'host' | 'path' | 'parameter' | 'record' | 'address' | 'port', string>
>;

/** @returns the text with the words of the spot in it */
export function fillTemplate(text: string, spot: TemplateValues): string {
  return text.replace(
    /\{(place|host|path|parameter|record|address|port)\}/g,
    (_all, word: keyof TemplateValues) => spot[word],
  );
}

/** @returns the name of a product as it stands in addresses */
export function toHostName(product: string): string {
  return product.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** Something found, somewhere. */
export interface DemoFinding {
  template: VulnerabilityTemplate;
  values: TemplateValues;
  /** The location of the asset that it was found on. */
  asset: string;
  /** How the location is told. */
  location: { type: 'url' | 'ip' | 'app-location'; value: string; port?: number };
}

/**
 * @param base how many were made before
 * @returns that many sightings of web weaknesses, each pair of a weakness and a place once
 */
export function findingsAtEndpoints(
  weaknesses: readonly VulnerabilityTemplate[],
  places: readonly DemoEndpoint[],
  domain: string,
  count: number,
  base = 0,
): DemoFinding[] {
  return Array.from({ length: count }, (_nothing, index): DemoFinding => {
    const number = index + base;
    const round = Math.floor(number / weaknesses.length);
    const place = places[(number + round) % places.length] as DemoEndpoint;
    const host = `${toHostName(place.product)}.${domain}`;
    const { name, path, parameter, record } = place;
    return {
      template: weaknesses[number % weaknesses.length] as VulnerabilityTemplate,
      values: { place: name, host, path, parameter, record, address: host, port: '443' },
      asset: `https://${host}`,
      location: { type: 'url', value: `https://${host}${path}` },
    };
  });
}

export interface DemoHost {
  name: string;
  address: string;
}

/** @returns that many sightings on hosts, each pair of a weakness and a host once while there are as many */
export function findingsOnHosts(
  weaknesses: readonly HostVulnerabilityTemplate[],
  hosts: readonly DemoHost[],
  count: number,
): DemoFinding[] {
  return Array.from({ length: count }, (_nothing, index): DemoFinding => {
    const weakness = weaknesses[index % weaknesses.length] as HostVulnerabilityTemplate;
    const { name: host, address } = hosts[(index * 5) % hosts.length] as DemoHost;
    return {
      template: weakness,
      values: {
        place: host,
        host,
        path: '/',
        parameter: '',
        record: '',
        address,
        port: String(weakness.port),
      },
      asset: address,
      location: { type: 'ip', value: address, port: weakness.port },
    };
  });
}

/** @returns every weakness in every application */
export function findingsInApplications(
  weaknesses: readonly VulnerabilityTemplate[],
  applications: readonly string[],
): DemoFinding[] {
  return applications.flatMap((place) =>
    weaknesses.map((weakness): DemoFinding => ({
      template: weakness,
      values: { place, host: place, path: '', parameter: '', record: '', address: '', port: '' },
      asset: place,
      location: { type: 'app-location', value: place },
    })),
  );
}
