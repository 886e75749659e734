import { type JsonObject, numberOf, textOf } from '../../parsing/json-values.ts';
import { decodePercent } from '../../parsing/urls.ts';
import { cutSharedName } from '../../targets.ts';
import { SarifBases } from './sarif-bases.ts';

/** Artifacts, and logical locations, per run. */
const MAX_LOCATIONS = 500_000;
/** Files and names inside one another. */
const MAX_DEPTH = 20;

interface Listed {
  uri?: string;
  base?: string;
  name?: string;
  fullName?: string;
  parent?: number;
}

/** The artifacts and logical locations of a run, to which results refer by index (sections 3.14.15 and 3.14.17). */
export class SarifLocations {
  readonly bases = new SarifBases();
  readonly #artifacts = new Map<number, Listed>();
  readonly #logical = new Map<number, Listed>();

  addToArtifact(index: number, member: string, value: string): void {
    add(this.#artifacts, index, member, value);
  }

  addToLogicalLocation(index: number, member: string, value: string): void {
    add(this.#logical, index, member, value);
  }

  /** Whether the target of a location has been read. */
  knows(artifactLocation: JsonObject, logicalLocation: JsonObject): boolean {
    const [artifact, logical] = [numberOf(artifactLocation.index), numberOf(logicalLocation.index)];
    const base = textOf(artifactLocation.uriBaseId);
    return (
      (artifactLocation.uri !== undefined || artifact === undefined || this.#artifacts.has(artifact)) &&
      (base === undefined || this.bases.knows(base)) &&
      (logical === undefined || this.#logical.has(logical))
    );
  }

  /** @returns the decoded path of a file, relative to the run's root if known; a file in an archive has both paths */
  pathOf(location: JsonObject): string | undefined {
    const index = numberOf(location.index);
    const artifact = index === undefined ? undefined : this.#artifacts.get(index);
    const uri = textOf(location.uri) ?? artifact?.uri;
    if (uri === undefined) return undefined;
    const base = textOf(location.uriBaseId) ?? (uri === artifact?.uri ? artifact.base : undefined);
    const path = decoded(this.bases.pathOf(uri, base));
    return artifact?.parent === undefined ? path : this.#inside(artifact.parent, path);
  }

  /** @returns the full name of a class, function or resource (section 3.33) */
  logicalNameOf(location: JsonObject): string | undefined {
    const qualifiedName = textOf(location.fullyQualifiedName);
    const index = numberOf(location.index);
    if (qualifiedName !== undefined || index === undefined) return qualifiedName ?? textOf(location.name);
    const names: string[] = [];
    let current: number | undefined = index;
    for (let depth = 0; current !== undefined && depth < MAX_DEPTH; depth += 1) {
      const listed: Listed | undefined = this.#logical.get(current);
      const name = listed?.fullName ?? listed?.name;
      if (name !== undefined) names.unshift(name);
      current = listed?.fullName === undefined ? listed?.parent : undefined;
    }
    return names.length === 0 ? textOf(location.name) : names.join('.');
  }

  #inside(outer: number, innerPath: string): string {
    let path = innerPath;
    let container: number | undefined = outer;
    for (let depth = 0; container !== undefined && depth < MAX_DEPTH; depth += 1) {
      const { uri, base, parent }: Listed = this.#artifacts.get(container) ?? {};
      if (uri !== undefined) path = `${decoded(this.bases.pathOf(uri, base))}/${path.replace(/^\/+/, '')}`;
      container = parent;
    }
    return path;
  }
}

function add(all: Map<number, Listed>, index: number, member: string, value: string): void {
  const listed = all.get(index) ?? {};
  if (member === 'uri') listed.uri = cutSharedName(value);
  else if (member === 'uriBaseId') listed.base = value;
  else if (member === 'name') listed.name = value;
  else if (member === 'fullyQualifiedName') listed.fullName = value;
  else if (Number(value) >= 0) listed.parent = Number(value);
  if (all.size < MAX_LOCATIONS) all.set(index, listed);
}

function decoded(path: string): string {
  return /^https?:\/\//i.test(path) ? path : decodePercent(path);
}
