/** A node of the tree of requested paths. */
export interface PathNode {
  names: Map<string, PathNode>;
  any?: PathNode;
  /** Set if a path ends here. */
  path?: string;
  /** Set if a path of `begins` ends here. */
  begins?: string;
}

/** @param paths names joined by dots; `*` for any name or index, `''` for the whole document */
export function compilePaths(paths: readonly string[], begins: readonly string[] = []): PathNode {
  const root: PathNode = { names: new Map() };
  const nodeAt = (path: string): PathNode => {
    let node = root;
    for (const name of path === '' ? [] : path.split('.')) {
      const next: PathNode = (name === '*' ? node.any : node.names.get(name)) ?? { names: new Map() };
      if (name === '*') node.any = next;
      else node.names.set(name, next);
      node = next;
    }
    return node;
  };
  for (const path of paths) nodeAt(path).path = path;
  for (const path of begins) nodeAt(path).begins = path;
  return root;
}

/** @returns the nodes below these for a name or an index */
export function matchPaths(nodes: readonly PathNode[], name: string): PathNode[] {
  const next: PathNode[] = [];
  for (const { names, any } of nodes) {
    const named = names.get(name);
    if (named !== undefined) next.push(named);
    if (any !== undefined) next.push(any);
  }
  return next;
}
