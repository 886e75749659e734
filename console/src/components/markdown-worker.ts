import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';

/** Deeper trees overflow the stack of the page that renders them. */
const MAX_DEPTH = 100;
/** A browser takes seconds to lay out more elements and text nodes. */
const MAX_NODES = 10_000;
/** Each image is a request. */
const MAX_IMAGES = 200;

const SAFE_ADDRESS = /^(?:https?:|mailto:|attachment:|#)/i;

const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { allowDangerousHtml: true })
  .freeze();

type Root = ReturnType<typeof parse>;
type Child = Root['children'][number];

const parse = (text: string) => processor.runSync(processor.parse(text));

// The page sends a text and gets its tree, or null if it exceeds a limit or the parser fails.
addEventListener('message', ({ data }: MessageEvent<string>) => postMessage(parseWithinLimits(data)));
postMessage('ready');

function parseWithinLimits(text: string): Root | null {
  try {
    const tree = parse(text);
    return clean(tree) ? tree : null;
  } catch {
    // The parser calls itself for each level of nesting: browsers throw different errors when the stack overflows.
    return null;
  }
}

/**
 * Turns HTML into text, empties unsafe addresses and drops positions. Walks without recursion, as the depth is not
 * known yet.
 * @returns whether the tree is within the limits
 */
function clean(tree: Root): boolean {
  const open: { node: Root | Child; depth: number }[] = [{ node: tree, depth: 0 }];
  let nodes = 0;
  let images = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    nodes += 1;
    delete node.position;
    delete node.data;
    if (node.type === 'element') {
      if (node.tagName === 'img') images += 1;
      for (const name of ['href', 'src'])
        if (name in node.properties) node.properties[name] = safeAddress(node.properties[name]);
    }
    if (nodes > MAX_NODES || images > MAX_IMAGES || depth > MAX_DEPTH) return false;
    if (!('children' in node)) continue;
    node.children = node.children.map((child) =>
      child.type === 'raw' ? { type: 'text', value: child.value } : child,
    ) as typeof node.children;
    for (const child of node.children) open.push({ node: child, depth: depth + 1 });
  }
  return true;
}

function safeAddress(address: unknown): string {
  return typeof address === 'string' && SAFE_ADDRESS.test(address) ? address : '';
}
