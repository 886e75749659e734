import type { Generated, GeneratedAlways } from 'kysely';

/** Assets, their tags, listings and ports. */
export interface AssetsTables {
  assets: AssetTable;
  asset_tags: AssetTagTable;
  asset_taggings: AssetTaggingTable;
  /** `scope_rules` is a JSON list of texts. */
  listing_assets: {
    organization_id: number;
    assessment_id: number;
    asset_id: number;
    scope_rules: Generated<string>;
  };
  ports: PortTable;
  /** `changes` is JSON, as `port-events.ts` has it. */
  port_events: {
    id: Generated<number>;
    asset_id: number;
    at: number;
    import_id: number | null;
    changes_count: number;
    changes: string;
  };
  port_counts: { asset_id: number; observed_state: string; ports: number };
}

interface AssetTable {
  id: Generated<number>;
  uid: string;
  organization_id: number;
  type: string;
  /** What it is known by, within its organization and type, and a scan finds it again by. */
  location: string;
  name: string;
  search_location: Generated<string>;
  search_name: Generated<string>;
  /** The IP address of a host, in hexadecimal; `null` otherwise. */
  address_hex: string | null;
  description: Generated<string>;
  criticality: Generated<string>;
  criticality_rank: GeneratedAlways<number>;
  writable_by: Generated<string>;
  /** When scans saw it. */
  first_seen: number | null;
  last_seen: number | null;
  /** How many vulnerabilities that are not closed it has, whoever reaches them. */
  open_vulnerabilities: Generated<number>;
  /** Which import made it. */
  import_id: number | null;
  created_at: number;
  updated_at: number;
  version: Generated<number>;
}

interface AssetTagTable {
  id: Generated<number>;
  uid: string;
  organization_id: number;
  name: string;
  normalized_name: string;
  version: Generated<number>;
}

interface AssetTaggingTable {
  tag_id: number;
  asset_id: number;
  /** The asset's. */
  organization_id: number;
  /** The tag's: the same organization, or `group_id`. */
  owner_id: number;
  /** A group of organizations that the asset's is in; `null` for a tag of its own. */
  group_id: number | null;
}

export interface PortTable {
  asset_id: number;
  protocol: string;
  number: number;
  observed_state: string;
  service_name: string | null;
  service_banner: string | null;
  product_name: string | null;
  product_version: string | null;
  cpe: string | null;
  first_seen: number;
  last_seen: number;
}
