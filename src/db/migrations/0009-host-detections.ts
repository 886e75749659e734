import type { Migration, SchemaDialect } from './migration.ts';

/**
 * Stores what each scan saw of a host, from which its ports and their history are derived. The ports of a database of
 * an earlier version become the first detection of their host when the next scan of it is applied.
 */
export const hostDetections: Migration = {
  name: '0009-host-detections',
  statements: ({ int, text, clusteredOptions }: SchemaDialect) => [
    // `import_id` is 0 for a scan without an import. `part` orders the observations of one time by one import.
    // `observation` is JSON, or a name of `host_observations` if that is long. With `=` before it, it is one that lists
    // the ports that the host has, and long ones are in `port_sets`.
    `create table host_detections (
      asset_id ${int} not null references assets (id) on delete cascade,
      seen_at ${int} not null,
      import_id ${int} not null,
      part ${int} not null,
      observation ${text} not null,
      primary key (asset_id, seen_at, import_id, part)
    ) ${clusteredOptions}`,
    `create index host_detections_by_import on host_detections (import_id, asset_id) where import_id > 0`,
    // Most scans of a host see the same again.
    `create table host_observations (
      asset_id ${int} not null references assets (id) on delete cascade,
      name ${text} not null,
      observation ${text} not null,
      primary key (asset_id, name)
    ) ${clusteredOptions}`,
  ],
};
