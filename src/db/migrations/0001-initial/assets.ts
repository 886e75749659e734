import type { Dialect } from '../migration.ts';

/** Assets, their tags, listings and ports. */
export const assetsTables = ({ id, int, text, table, clustered }: Dialect): string[] => [
  `create table assets (
    id ${id},
    uid ${text} not null unique,
    organization_id ${int} not null references organizations (id),
    type ${text} not null check (type in ('host', 'webapp', 'network', 'cloudaccount', 'mobileapp')),
    name ${text} not null,
    address ${text},
    criticality ${text} not null default 'undefined' check (criticality in ('high', 'medium', 'low', 'undefined')),
    writable_by ${text} not null default 'any' check (writable_by in ('client', 'boss', 'any')),
    created_at ${int} not null,
    updated_at ${int} not null,
    unique (organization_id, address)
  ) ${table}`,

  `create table asset_tags (
    id ${id},
    uid ${text} not null unique,
    organization_id ${int} not null references organizations (id),
    name ${text} not null,
    name_key ${text} not null,
    unique (organization_id, name_key)
  ) ${table}`,

  `create table asset_taggings (
    tag_id ${int} not null references asset_tags (id) on delete cascade,
    asset_id ${int} not null references assets (id) on delete cascade,
    primary key (tag_id, asset_id)
  ) ${clustered}`,
  `create index asset_taggings_by_asset on asset_taggings (asset_id, tag_id)`,

  `create table listing_assets (
    assessment_id ${int} not null references assessments (id) on delete cascade,
    asset_id ${int} not null references assets (id) on delete cascade,
    primary key (asset_id, assessment_id)
  ) ${clustered}`,
  `create index listing_assets_by_assessment on listing_assets (assessment_id, asset_id)`,

  `create table scope_rules (
    assessment_id ${int} not null,
    asset_id ${int} not null,
    position ${int} not null,
    rule ${text} not null,
    primary key (asset_id, assessment_id, position),
    foreign key (asset_id, assessment_id) references listing_assets (asset_id, assessment_id) on delete cascade
  ) ${clustered}`,

  `create table ports (
    asset_id ${int} not null references assets (id) on delete cascade,
    protocol ${text} not null check (protocol in ('tcp', 'udp', 'sctp')),
    number ${int} not null check (number between 0 and 65535),
    observed_state ${text} not null,
    service_name ${text},
    service_banner ${text},
    product_name ${text},
    product_version ${text},
    cpe ${text},
    first_seen ${int} not null,
    last_seen ${int} not null,
    primary key (asset_id, number, protocol)
  ) ${clustered}`,
  `create index ports_by_state on ports (asset_id, observed_state, number, protocol)`,

  `create table port_counts (
    asset_id ${int} not null references assets (id) on delete cascade,
    observed_state ${text} not null,
    ports ${int} not null check (ports >= 0),
    primary key (asset_id, observed_state)
  ) ${clustered}`,
];
