import type { HostWeakness } from './weaknesses/network.ts';
import type { Weakness } from './weaknesses/weakness.ts';

/** A part of a web application in which something may be found. */
export interface Place {
  name: string;
  /** The product that it is a part of: its web application is an asset. */
  product: string;
  path: string;
  parameter: string;
  /** What it is about. */
  record: string;
}

/** Where a weakness was found: the words that its texts leave open. */
export type Spot = Readonly<
  Record<'place' | 'host' | 'path' | 'parameter' | 'record' | 'address' | 'port', string>
>;

/** @returns the text with the words of the spot in it */
export function told(text: string, spot: Spot): string {
  return text.replace(
    /\{(place|host|path|parameter|record|address|port)\}/g,
    (_all, word: keyof Spot) => spot[word],
  );
}

/** @returns the name of a product as it stands in addresses */
export function nameInAddress(product: string): string {
  return product.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** Something found, somewhere. */
export interface Sighting {
  weakness: Weakness;
  spot: Spot;
  /** The location of the asset that it was found on. */
  asset: string;
  /** How the location is told. */
  location: { type: 'url' | 'ip' | 'app-location'; value: string; port?: number };
}

/**
 * @param base how many were made before
 * @returns that many sightings of web weaknesses, each pair of a weakness and a place once
 */
export function inPlaces(
  weaknesses: readonly Weakness[],
  places: readonly Place[],
  domain: string,
  count: number,
  base = 0,
): Sighting[] {
  return Array.from({ length: count }, (_nothing, index): Sighting => {
    const number = index + base;
    const round = Math.floor(number / weaknesses.length);
    const place = places[(number + round) % places.length] as Place;
    const host = `${nameInAddress(place.product)}.${domain}`;
    const { name, path, parameter, record } = place;
    return {
      weakness: weaknesses[number % weaknesses.length] as Weakness,
      spot: { place: name, host, path, parameter, record, address: host, port: '443' },
      asset: `https://${host}`,
      location: { type: 'url', value: `https://${host}${path}` },
    };
  });
}

export interface Host {
  name: string;
  address: string;
}

/** @returns that many sightings on hosts, each pair of a weakness and a host once while there are as many */
export function onHosts(
  weaknesses: readonly HostWeakness[],
  hosts: readonly Host[],
  count: number,
): Sighting[] {
  return Array.from({ length: count }, (_nothing, index): Sighting => {
    const weakness = weaknesses[index % weaknesses.length] as HostWeakness;
    const { name: host, address } = hosts[(index * 5) % hosts.length] as Host;
    return {
      weakness,
      spot: { place: host, host, path: '/', parameter: '', record: '', address, port: String(weakness.port) },
      asset: address,
      location: { type: 'ip', value: address, port: weakness.port },
    };
  });
}

/** @returns every weakness in every application */
export function inApplications(weaknesses: readonly Weakness[], applications: readonly string[]): Sighting[] {
  return applications.flatMap((place) =>
    weaknesses.map((weakness): Sighting => ({
      weakness,
      spot: { place, host: place, path: '', parameter: '', record: '', address: '', port: '' },
      asset: place,
      location: { type: 'app-location', value: place },
    })),
  );
}
