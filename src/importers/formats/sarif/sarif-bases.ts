/** Bases per run. */
const MAX_BASES = 100;
/** Bases that are relative to one another. */
const MAX_DEPTH = 20;
/** Names of the folder that is checked out, without `%`, `_` and `-`. */
const CHECKOUT =
  /^(?:(?:src|source|repo|repository|project|solution|workspace|checkout)(?:root|dir|path)?|root|rootpath)$/i;
/** The root of a file system, which contains every other base. */
const FILE_SYSTEM = /^(?:file:)?\/*(?:[a-z](?::|%3a)\/*)?$/i;

/** Characters of a folder, which is compared with each location. */
const MAX_FOLDER = 4_096;

interface Base {
  uri?: string | undefined;
  parent?: string | undefined;
}

/** A path in a base that is relative to no other. */
interface Position {
  base: string;
  /** The URI of the base, if the report contains it. */
  folder?: string;
  path: string;
}

/**
 * The folders to which URIs are relative (sections 3.4.4 and 3.14.14). Paths stay relative to the checked out folder or
 * to the only base; in another base they begin with its path there, or with its name.
 */
export class SarifBases {
  readonly #bases = new Map<string, Base>();
  readonly #workingFolders = new Set<string>();
  /** By folder, the longest first. Built once everything is read. */
  #prefixes: [folder: string, prefix: string][] | undefined;
  readonly #positions = new Map<string, Position>();

  /** @param parent the base to which the URI is relative */
  add(name: string, uri: string | undefined, parent: string | undefined): void {
    if (this.#bases.size >= MAX_BASES) return;
    const isUsable = uri !== undefined && uri.length <= MAX_FOLDER;
    this.#bases.set(name, { uri: isUsable ? withSlash(uri) : undefined, parent });
  }

  addWorkingFolder(uri: string): void {
    if (this.#workingFolders.size < MAX_BASES && uri.length <= MAX_FOLDER)
      this.#workingFolders.add(withSlash(uri));
  }

  /** Whether the run says where a base is, or its name does. */
  knows(name: string): boolean {
    return this.#bases.has(name) || isCheckout(name);
  }

  /** @returns the path by which a file is known in every report; a web address as it is */
  pathOf(uri: string, base: string | undefined): string {
    if (base === undefined || isAbsolute(uri)) return this.#relative(uri);
    const { base: top, folder, path } = this.#positionOf(base);
    if (folder !== undefined) return this.#relative(folder + joined(path, uri));
    const isOnly = this.#bases.size === 1 && this.#bases.has(top);
    return joined((isOnly || isCheckout(top) ? '' : prefixFrom(top)) + path, uri);
  }

  #relative(uri: string): string {
    this.#prefixes ??= prefixesOf(this.#folders(), this.#workingFolders);
    for (const [folder, prefix] of this.#prefixes) {
      if (uri.length > folder.length && uri.startsWith(folder))
        return joined(prefix, uri.slice(folder.length));
    }
    return uri.replace(/^file:\/\/(?=\/)/i, '');
  }

  /** The folders of bases that are relative to no other, with their names. */
  #folders(): Map<string, string> {
    const folders = new Map<string, string>();
    for (const name of [...this.#bases.keys()].sort()) {
      const { base, folder } = this.#positionOf(name);
      if (base !== name || folder === undefined) continue;
      if (!folders.has(folder) || isCheckout(name)) folders.set(folder, name);
    }
    return folders;
  }

  #positionOf(name: string, depth = 0): Position {
    const cachedPosition = this.#positions.get(name);
    if (cachedPosition !== undefined) return cachedPosition;
    const position = this.#resolve(name, depth);
    if (this.#positions.size < MAX_BASES) this.#positions.set(name, position);
    return position;
  }

  #resolve(name: string, depth: number): Position {
    const { uri, parent } = this.#bases.get(name) ?? {};
    if (uri !== undefined && isAbsolute(uri)) return { base: name, folder: uri, path: '' };
    if (parent === undefined || depth >= MAX_DEPTH) {
      const isInCheckout = uri !== undefined && this.#bases.size > 1 && !isCheckout(name);
      return isInCheckout ? { base: 'ROOT', path: uri } : { base: name, path: '' };
    }
    const outer = this.#positionOf(parent, depth + 1);
    const path = withoutDots(outer.path + (uri ?? ''));
    // A folder of one machine's file system identifies nothing elsewhere.
    return outer.folder !== undefined && FILE_SYSTEM.test(outer.folder)
      ? { base: name, folder: outer.folder + path, path: '' }
      : { ...outer, path };
  }
}

/** @param names of folders @returns what replaces each folder in a path, the longest folder first */
function prefixesOf(
  names: ReadonlyMap<string, string>,
  workingFolders: ReadonlySet<string>,
): [folder: string, prefix: string][] {
  const all = [...names.keys()].sort((one, other) => other.length - one.length);
  const folders = all.filter((folder) => !FILE_SYSTEM.test(folder));
  const main = mainOf(folders, names);
  const prefixes = folders.map((folder): [string, string] => {
    if (folder === main) return [folder, ''];
    const isInside = main !== undefined && folder.startsWith(main);
    return [folder, isInside ? folder.slice(main.length) : prefixFrom(names.get(folder) ?? '')];
  });
  const working = commonFolder([...workingFolders]);
  if (working !== undefined && !names.has(working)) {
    if (main === undefined || folders.length === 0) prefixes.push([working, '']);
    else if (working.startsWith(main)) prefixes.push([working, working.slice(main.length)]);
    else if (main.startsWith(working)) {
      prefixes.push([working, '../'.repeat(main.slice(working.length).split('/').length - 1)]);
    }
  }
  // The root of a file system is used if there is no other base.
  if (folders.length === 0) prefixes.push(...all.map((folder): [string, string] => [folder, '']));
  return prefixes.sort(([a], [b]) => b.length - a.length);
}

/**
 * @param folders the longest first
 * @returns the only folder, else that with the name of a checkout, else the one inside all others, else that around
 *   them
 */
function mainOf(folders: readonly string[], names: ReadonlyMap<string, string>): string | undefined {
  const roots = folders.filter((folder) => isCheckout(names.get(folder) ?? ''));
  const sourceRoot = roots.find((folder) => plainName(names.get(folder) ?? '').toUpperCase() === 'SRCROOT');
  const inner = folders[0];
  const outer = folders.at(-1);
  if (sourceRoot !== undefined || roots.length > 0) return sourceRoot ?? roots.at(-1);
  if (inner !== undefined && folders.every((folder) => inner.startsWith(folder))) return inner;
  return outer !== undefined && folders.every((folder) => folder.startsWith(outer)) ? outer : undefined;
}

/** @returns the folder that contains all; `undefined` if that is a file system */
function commonFolder(folders: readonly string[]): string | undefined {
  let common = folders[0];
  for (const folder of folders) {
    if (common === undefined) break;
    let matched = 0;
    while (matched < common.length && common[matched] === folder[matched]) matched += 1;
    if (matched < common.length) common = common.slice(0, common.slice(0, matched).lastIndexOf('/') + 1);
  }
  return common === undefined || common === '' || FILE_SYSTEM.test(common) ? undefined : common;
}

const isAbsolute = (uri: string): boolean => /^(?:\/|[a-z][a-z\d+.-]+:|[a-z]:[\\/])/i.test(uri);
const withSlash = (uri: string): string => (uri.endsWith('/') ? uri : `${uri}/`);
const plainName = (name: string): string => name.replace(/[%_-]/g, '');
const isCheckout = (name: string): boolean => CHECKOUT.test(plainName(name));
const prefixFrom = (name: string): string => withSlash(name.replaceAll('%', ''));

const joined = (prefix: string, path: string): string => (prefix === '' ? path : withoutDots(prefix + path));

/** Resolves `.` and `..` (RFC 3986, section 5.2.4). */
function withoutDots(uri: string): string {
  if (!/(?:^|\/)\.\.?(?:\/|$)/.test(uri)) return uri;
  const segments: string[] = [];
  for (const segment of uri.split('/')) {
    const last = segments.at(-1);
    if (segment === '..' && last !== undefined && last !== '' && last !== '..') segments.pop();
    else if (segment !== '.') segments.push(segment);
  }
  return segments.join('/');
}
