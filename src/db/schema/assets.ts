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
  /** What each scan saw of a host, in the format of `host-detections.ts`. */
  host_detections: {
    asset_id: number;
    seen_at: number;
    /** 0 for a scan without an import. */
    import_id: number;
    part: number;
    observation: string;
  };
  /** When an import saw an asset. */
  asset_detections: {
    organization_id: number;
    asset_id: number;
    import_id: number;
    first_seen_at: number;
    seen_at: number;
  };
  host_observations: { asset_id: number; name: string; observation: string };
  /** `changes` is JSON in the format of `port-events.ts`. */
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
  /** Identifies the asset within its organization and type; scans find it by this. */
  location: string;
  name: string;
  search_location: Generated<string>;
  search_name: Generated<string>;
  /** IP address of a host in hexadecimal; `null` for other assets. */
  address_hex: string | null;
  description: Generated<string>;
  criticality: Generated<string>;
  criticality_rank: GeneratedAlways<number>;
  writable_by: Generated<string>;
  /** Set by scans only. */
  first_seen: number | null;
  last_seen: number | null;
  /** The number of vulnerabilities that are not closed, regardless of who may see them. */
  open_vulnerabilities: Generated<number>;
  /** The import that created the asset. */
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
  /** The asset's organization. */
  organization_id: number;
  /** The owner of the tag: the asset's organization, or `group_id`. */
  owner_id: number;
  /** A group that the asset's organization belongs to; `null` for the organization's own tag. */
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
