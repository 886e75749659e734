import type { Programme } from './programmes.ts';
import { type Host, inApplications, inPlaces, onHosts, type Sighting } from './spots.ts';
import { MOBILE } from './weaknesses/mobile.ts';
import { NETWORK } from './weaknesses/network.ts';
import { WEB } from './weaknesses/web.ts';

/** What was seen, by assessment: first in the one that the demo accounts have access to. */
export function sightingsOf(
  { domain, places, assessment, vulnerabilities, further }: Programme,
  hosts: readonly Host[],
): { assessment: string; sightings: Sighting[] }[] {
  let rounds = vulnerabilities;
  return [
    { assessment: assessment.uid, sightings: inPlaces(WEB, places, domain, vulnerabilities) },
    ...further.map(({ uid, about, findings, applications = [] }) => {
      switch (about) {
        case 'web':
          rounds += findings;
          return { assessment: uid, sightings: inPlaces(WEB, places, domain, findings, rounds - findings) };
        case 'hosts':
          return { assessment: uid, sightings: onHosts(NETWORK, hosts, findings) };
        case 'applications':
          return { assessment: uid, sightings: inApplications(MOBILE, applications) };
      }
    }),
  ];
}
