/** What stands at one of the paths that were asked for. */
export interface JsonMatch {
  /** The path as it was asked for. */
  path: string;
  /** The names and indices that lead to it. */
  keys: readonly (string | number)[];
  value: unknown;
  /** Where it begins, in bytes from 0. */
  offset: number;
}

export interface JsonStreamOptions {
  /** Whether a comma may stand before the end of an array or an object, as some tools leave one. */
  trailingCommas?: boolean;
  /** Reads the text of a piece in place of `JSON.parse`; what it throws ends the report. */
  parse?: (text: string) => unknown;
}

/** What may come below a place, as the paths say. */
export interface PathNode {
  names: Map<string, PathNode>;
  any?: PathNode;
  /** The path that ends here. */
  path?: string;
}

/** @param paths names joined by dots, `*` for any name or index, `''` for the whole document */
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

/** @returns what may come at a name or an index */
export function matchPaths(steps: readonly PathNode[], name: string): PathNode[] {
  const next: PathNode[] = [];
  for (const { names, any } of steps) {
    const named = names.get(name);
    if (named !== undefined) next.push(named);
    if (any !== undefined) next.push(any);
  }
  return next;
}
