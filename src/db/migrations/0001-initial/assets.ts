import type { SchemaDialect } from '../migration.ts';

/** Assets, their tags, listings and ports. */
export const assetsTables = ({ id, int, text, tableOptions, clusteredOptions }: SchemaDialect): string[] => [
  // `location` identifies an asset: the address of a host, the URL of a web application, else the name. `search_name`
  // and `search_location` are normalized. `address_hex` is a host's IP address as 16 bytes in hexadecimal, so that a
  // CIDR block is a range. Lists can be sorted by `open_vulnerabilities`.
  `create table assets (
    id ${id},
    uid ${text} not null unique,
    organization_id ${int} not null references organizations (id),
    type ${text} not null check (type in ('host', 'webapp', 'network', 'cloudaccount', 'mobileapp')),
    location ${text} not null,
    name ${text} not null,
    search_location ${text} not null default '',
    search_name ${text} not null default '',
    address_hex ${text},
    description ${text} not null default '',
    criticality ${text} not null default 'undefined' check (criticality in ('high', 'medium', 'low', 'undefined')),
    criticality_rank ${int} not null generated always as (case criticality when 'high' then 3 when 'medium' then 2
      when 'low' then 1 else 0 end) stored,
    writable_by ${text} not null default 'any' check (writable_by in ('client', 'boss', 'any')),
    first_seen ${int},
    last_seen ${int},
    open_vulnerabilities ${int} not null default 0,
    import_id ${int},
    created_at ${int} not null,
    updated_at ${int} not null,
    version ${int} not null default 1,
    unique (organization_id, type, location),
    unique (organization_id, id)
  ) ${tableOptions}`,
  `create index assets_by_location on assets (location, id)`,
  `create index assets_of_organization_by_location on assets (organization_id, location, id)`,
  `create index assets_of_organization_by_vulnerabilities
    on assets (organization_id, open_vulnerabilities desc, id)`,
  `create index assets_by_import on assets (import_id, id) where import_id is not null`,
  `create index assets_by_address on assets (organization_id, address_hex) where address_hex is not null`,

  `create table asset_tags (
    id ${id},
    uid ${text} not null unique,
    organization_id ${int} not null references organizations (id),
    name ${text} not null,
    normalized_name ${text} not null,
    version ${int} not null default 1,
    unique (organization_id, normalized_name),
    unique (organization_id, id)
  ) ${tableOptions}`,

  `create index asset_tags_by_name on asset_tags (organization_id, name, id)`,

  // The only table that joins rows of different organizations: a tag of an organization group can be attached to assets
  // of its member organizations. The tag's owner is the asset's organization, or a group that it belongs to.
  `create table asset_taggings (
    tag_id ${int} not null,
    asset_id ${int} not null,
    organization_id ${int} not null,
    owner_id ${int} not null,
    group_id ${int},
    primary key (tag_id, asset_id),
    check ((group_id is null and owner_id = organization_id) or (group_id is not null and owner_id = group_id)),
    foreign key (owner_id, tag_id) references asset_tags (organization_id, id) on delete cascade,
    foreign key (organization_id, asset_id) references assets (organization_id, id) on delete cascade,
    foreign key (group_id, organization_id) references organization_group_members (group_id, organization_id)
      on delete cascade
  ) ${clusteredOptions}`,
  `create index asset_taggings_by_group on asset_taggings (group_id, organization_id) where group_id is not null`,
  `create index asset_taggings_by_asset on asset_taggings (asset_id, tag_id)`,

  // The scope rules of an asset in a listing are read and written together, so they are one JSON list of texts.
  `create table listing_assets (
    organization_id ${int} not null,
    assessment_id ${int} not null,
    asset_id ${int} not null,
    scope_rules ${text} not null default '[]',
    primary key (asset_id, assessment_id),
    foreign key (organization_id, assessment_id) references assessments (organization_id, id) on delete cascade,
    foreign key (organization_id, asset_id) references assets (organization_id, id) on delete cascade
  ) ${clusteredOptions}`,
  `create index listing_assets_by_assessment on listing_assets (assessment_id, asset_id)`,

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
  ) ${clusteredOptions}`,
  `create index ports_by_state on ports (asset_id, observed_state, number, protocol)`,

  // The changes of a host's ports by a scan: a JSON list of number, protocol, properties before (`null` for a new port)
  // and properties after.
  `create table port_events (
    id ${id},
    asset_id ${int} not null references assets (id) on delete cascade,
    at ${int} not null,
    import_id ${int},
    changes_count ${int} not null,
    changes ${text} not null
  ) ${tableOptions}`,
  `create index port_events_by_asset on port_events (asset_id, at, id, changes_count)`,
  `create index port_events_by_import on port_events (import_id, asset_id) where import_id is not null`,

  `create table port_counts (
    asset_id ${int} not null references assets (id) on delete cascade,
    observed_state ${text} not null,
    ports ${int} not null check (ports >= 0),
    primary key (asset_id, observed_state)
  ) ${clusteredOptions}`,
];
