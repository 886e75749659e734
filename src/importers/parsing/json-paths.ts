/** A value at one of the requested paths. */
export interface JsonMatch {
  /** The requested path. */
  path: string;
  /** Names and indices that lead to the value. */
  keys: readonly (string | number)[];
  value: unknown;
  /** Where it begins, in bytes from 0. */
  offset: number;
}

export interface JsonStreamOptions {
  /** Whether to allow a comma before the end of an array or object, as some tools write. */
  trailingCommas?: boolean;
  /** Parses a match in place of `JSON.parse`; an error ends the report. */
  parse?: (text: string) => unknown;
}

/** A node of the tree of requested paths. */
export interface PathNode {
  names: Map<string, PathNode>;
  any?: PathNode;
  /** Set if a path ends here. */
  path?: string;
}

/** @param paths names joined by dots; `*` for any name or index, `''` for the whole document */
export function compilePaths(paths: readonly string[]): PathNode {
  const root: PathNode = { names: new Map() };
  for (const path of paths) {
    let step = root;
    for (const name of path === '' ? [] : path.split('.')) {
      const next: PathNode = (name === '*' ? step.any : step.names.get(name)) ?? { names: new Map() };
      if (name === '*') step.any = next;
      else step.names.set(name, next);
      step = next;
    }
    step.path = path;
  }
  return root;
}

/** @returns the nodes below these for a name or an index */
export function matchPaths(steps: readonly PathNode[], name: string): PathNode[] {
  const next: PathNode[] = [];
  for (const { names, any } of steps) {
    const named = names.get(name);
    if (named !== undefined) next.push(named);
    if (any !== undefined) next.push(any);
  }
  return next;
}
