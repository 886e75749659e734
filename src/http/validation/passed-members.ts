/** A member that failed, or that has failed ones below it. */
interface Branch {
  failed: boolean;
  below: Map<string, Branch>;
  /** The original indexes of the remaining items of an array that lost some. */
  indexes?: number[];
}

const newBranch = (): Branch => ({ failed: false, below: new Map() });

/**
 * Removes the invalid members of a body. Copies only the objects and arrays that contain them.
 * @param failed dotted paths
 * @returns the rest of the body, in which items move up, and a function from a path in it to the path in the body
 */
export function takePassedMembers(
  body: unknown,
  failed: Iterable<string>,
): { passed: unknown; toSentPath: (path: string) => string } {
  const root = newBranch();
  for (const path of failed) {
    let branch = root;
    for (const name of path.split('.')) {
      const next = branch.below.get(name) ?? newBranch();
      branch.below.set(name, next);
      branch = next;
    }
    branch.failed = true;
  }
  return { passed: withoutFailed(body, root), toSentPath: (path) => sentPathOf(path, root) };
}

function withoutFailed(value: unknown, branch: Branch | undefined): unknown {
  if (branch === undefined || typeof value !== 'object' || value === null) return value;
  const { below } = branch;
  if (Array.isArray(value)) {
    const valid = [...value.entries()].filter(([index]) => below.get(`${index}`)?.failed !== true);
    branch.indexes = valid.map(([index]) => index);
    return valid.map(([index, item]) => withoutFailed(item, below.get(`${index}`)));
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const next = below.get(name);
      return next?.failed === true ? [] : [[name, withoutFailed(member, next)]];
    }),
  );
}

function sentPathOf(path: string, root: Branch): string {
  let branch: Branch | undefined = root;
  const names: string[] = [];
  for (const part of path.split('.')) {
    const name: string = branch?.indexes === undefined ? part : `${branch.indexes[Number(part)]}`;
    names.push(name);
    branch = branch?.below.get(name);
  }
  return names.join('.');
}

/** Returns a function that checks whether a path is one of the paths, or below one. */
export function createPathFilter(paths: ReadonlySet<string>): (path: string) => boolean {
  return (path) => {
    if (paths.has('') || paths.has(path)) return true;
    for (let end = path.lastIndexOf('.'); end > 0; end = path.lastIndexOf('.', end - 1))
      if (paths.has(path.slice(0, end))) return true;
    return false;
  };
}
