import type { ListedHost } from '../../domain/assets/list-hosts.ts';
import { keyValueLines, printLines, table, writeText } from '../print.ts';

/** Rows of the table; `--json` has all hosts. */
const MAX_ROWS = 20;

/** What an import did. */
export interface HostSummary {
  hosts: { created: number; updated: number; unchanged: number; down: number };
  /** How many ports the report lists by state, of the hosts that were imported. */
  ports: Record<string, number>;
  /** Known ports that are closed now and were not before. */
  markedClosed: number;
  bytes: number;
  seconds: number;
}

/** What becomes of the hosts that an import tells of. */
export interface HostOutput {
  /** Resolves when more can be taken. */
  add(hosts: readonly ListedHost[]): Promise<void>;
  /** @param error why the import ended early; `null` when it did not */
  end(summary: HostSummary, error: string | null): Promise<void>;
}

/** For people: what was done, and a table of the first hosts. */
export class HostTable implements HostOutput {
  readonly #first = new Map<string, ListedHost>();

  async add(hosts: readonly ListedHost[]): Promise<void> {
    // Some tools list a host once for each port: what is known of it last stands.
    for (const host of hosts)
      if (this.#first.size < MAX_ROWS || this.#first.has(host.uid)) this.#first.set(host.uid, host);
  }

  async end(summary: HostSummary): Promise<void> {
    const { created, updated, unchanged } = summary.hosts;
    const more = created + updated + unchanged - this.#first.size;
    printLines(...show(summary));
    if (this.#first.size === 0) return;
    const rows = table(
      [...this.#first.values()],
      {
        ADDRESS: ({ address }) => address,
        UID: ({ uid }) => uid,
        'OPEN PORTS': ({ openPorts }) => openPorts,
      },
      '',
    );
    printLines('', ...rows, ...(more > 0 ? [`and ${more} more; --json lists them all`] : []));
  }
}

/** As JSON on one line, written as the hosts come, as there may be more than fit into memory. */
export class HostsAsJson implements HostOutput {
  readonly #organization: string;
  #begun = false;

  /** @param organization its uid */
  constructor(organization: string) {
    this.#organization = organization;
  }

  async add(hosts: readonly ListedHost[]): Promise<void> {
    if (hosts.length === 0) return;
    const items = hosts.map((host) => JSON.stringify(host)).join(',');
    await writeText(this.#begun ? `,${items}` : this.#beginning() + items);
    this.#begun = true;
  }

  async end(summary: HostSummary, error: string | null): Promise<void> {
    const rest = JSON.stringify({ ...summary, error }).slice(1);
    await writeText(`${this.#begun ? '' : this.#beginning()}],${rest}\n`);
  }

  #beginning(): string {
    return `{"organization":${JSON.stringify(this.#organization)},"assets":[`;
  }
}

function show({ hosts, ports, markedClosed, bytes, seconds }: HostSummary): string[] {
  const states = Object.entries(ports).sort(([a], [b]) => (a < b ? -1 : 1));
  return keyValueLines({
    'hosts created': hosts.created,
    'hosts updated': hosts.updated,
    'hosts unchanged': hosts.unchanged,
    'hosts down': hosts.down,
    ...Object.fromEntries(states.map(([state, count]) => [`ports ${state}`, count])),
    'ports marked closed': markedClosed,
    read: `${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s`,
  });
}
