import {
  isJsonObject,
  arrayOf,
  type JsonObject,
  asJsonObject,
  numberOf,
  textOf,
  textsOf,
} from '../../parsing/json-values.ts';
import type { JsonMatch } from '../../parsing/json-stream.ts';
import { parseTime } from '../../parsing/parse-time.ts';

/** What is read of a run before its results. Notifications and contents of files may be of any size: they are not. */
export const RUN_PATHS = [
  'runs.*.tool.driver.name',
  'runs.*.tool.driver.rules.*',
  'runs.*.tool.extensions.*.name',
  'runs.*.tool.extensions.*.rules.*',
  'runs.*.automationDetails.id',
  'runs.*.originalUriBaseIds.*.uri',
  'runs.*.invocations.*.executionSuccessful',
  'runs.*.invocations.*.startTimeUtc',
  'runs.*.invocations.*.endTimeUtc',
  'runs.*.invocations.*.workingDirectory.uri',
  'runs.*.artifacts.*.location.uri',
];

/** What a rule says of its results (section 3.49). */
export interface SarifRule {
  id: string | undefined;
  title: string | undefined;
  /** Plain text. */
  description: string | undefined;
  /** Markdown. */
  help: string | undefined;
  level: string | undefined;
  /** From 0 to 10, as GitHub's convention has it. */
  score: number | undefined;
  /** Tags and names of other lists, where CWEs and CVEs are told. */
  identifiers: string;
  cvss: number | undefined;
  links: string[];
  messages: JsonObject;
}

const MAX_TEXT = 16_384;
/** Of the rules and paths of a run, in characters. */
const MAX_BUFFERED = 24 * 1024 * 1024;
const MAX_ARTIFACTS = 500_000;
/** A part of `automationDetails.id` that is another for each run: a date, a number, a UUID (section 3.17.3). */
const RUN_SUFFIX = /\/(?:\d[\d:.TZ_-]*|[\da-f]{8,}(?:-[\da-f]{4,})*)?$/i;

/** What a run says of itself, beside its results (section 3.14). */
export class SarifRun {
  source: string | undefined;
  scannedAt: number | undefined;
  hasResults = false;
  #failed = false;
  #toolOffset: number | undefined;
  #automation: string | undefined;
  #kept = 0;
  readonly #roots: string[] = [];
  readonly #artifacts = new Map<number, string>();
  /** By component and index, and by component and id. */
  readonly #rules = new Map<string, SarifRule>();
  readonly #extensions = new Map<string, string>();

  take({ path, keys, value, offset }: JsonMatch): void {
    const member = path.slice('runs.*.'.length);
    const text = textOf(value);
    if (member === 'tool.driver.name') {
      this.source = text?.slice(0, 200);
      this.#toolOffset ??= offset;
    } else if (member === 'tool.driver.rules.*') {
      this.#toolOffset ??= offset;
      this.#addRule('', keys.at(-1) as number, value);
    } else if (member === 'tool.extensions.*.rules.*') {
      this.#addRule(String(keys.at(-3)), keys.at(-1) as number, value);
    } else if (member === 'tool.extensions.*.name') {
      if (text !== undefined && this.#keep(text.length)) this.#extensions.set(text, String(keys.at(-2)));
    } else if (member === 'automationDetails.id') this.#automation = text?.slice(0, 1_000);
    else if (member === 'invocations.*.executionSuccessful') this.#failed ||= value === false;
    else if (member.endsWith('TimeUtc')) {
      const time = parseTime(value);
      if (time !== undefined) this.scannedAt = Math.max(this.scannedAt ?? 0, time);
    } else if (text === undefined) return;
    else if (member === 'artifacts.*.location.uri') {
      if (this.#artifacts.size < MAX_ARTIFACTS && this.#keep(text.length)) {
        this.#artifacts.set(keys[3] as number, text);
      }
    } else if (this.#roots.length < 100) this.#roots.push(text.endsWith('/') ? text : `${text}/`);
  }

  /** What a later report of the same is known by (section 7). */
  get artifact(): string {
    return this.#automation?.replace(RUN_SUFFIX, '') || this.#automation || (this.source ?? 'sarif');
  }

  /** Whether it did what it was to do, so that what it does not tell is gone. */
  get isWhole(): boolean {
    return !this.#failed;
  }

  /** Whether a result, as far as the report was read, lacks what may have come behind it. */
  isMissingRulesFor(result: JsonObject, offset: number): boolean {
    if (this.#toolOffset === undefined) return true;
    return offset < this.#toolOffset && this.ruleOf(result) === undefined;
  }

  /** Section 3.27.5 to 3.27.7 and 3.52: by index, by id, and by the id without its last parts. */
  ruleOf(result: JsonObject): SarifRule | undefined {
    const reference = asJsonObject(result.rule);
    const component = this.#componentOf(asJsonObject(reference.toolComponent));
    const index = numberOf(reference.index ?? result.ruleIndex);
    if (index !== undefined && index >= 0) {
      const rule = this.#rules.get(`${component}#${index}`);
      if (rule !== undefined) return rule;
    }
    let id = textOf(reference.id ?? result.ruleId) ?? '';
    while (id !== '') {
      const rule = this.#rules.get(`${component}:${id}`) ?? this.#rules.get(`*:${id}`);
      if (rule !== undefined) return rule;
      id = id.slice(0, Math.max(id.lastIndexOf('/'), 0));
    }
    return undefined;
  }

  /** @returns where a file lies, below the root of the run where it is told; without the escapes of an address */
  pathOf(location: JsonObject): string | undefined {
    const index = numberOf(location.index);
    const uri = textOf(location.uri) ?? (index === undefined ? undefined : this.#artifacts.get(index));
    if (uri === undefined) return undefined;
    const root = this.#roots.find((one) => uri.startsWith(one) && uri.length > one.length);
    const path = root === undefined ? uri.replace(/^file:\/\/(?=\/)/i, '') : uri.slice(root.length);
    if (/^https?:\/\//i.test(path)) return path;
    try {
      return decodeURIComponent(path);
    } catch {
      return path;
    }
  }

  #componentOf(reference: JsonObject): string {
    const index = numberOf(reference.index);
    if (index !== undefined && index >= 0) return String(index);
    return this.#extensions.get(textOf(reference.name) ?? '') ?? '';
  }

  #addRule(component: string, index: number, value: unknown): void {
    if (!isJsonObject(value)) return;
    const rule = ruleFrom(value);
    const { id = '', title = '', description = '', help = '', identifiers } = rule;
    const size = id.length + title.length + description.length + help.length + identifiers.length;
    if (!this.#keep(500 + size + JSON.stringify(rule.messages).length)) return;
    this.#rules.set(`${component}#${index}`, rule);
    // The last is for results that do not say whose rule it is.
    for (const name of id === '' ? [] : [`${component}:${id}`, `*:${id}`]) {
      if (!this.#rules.has(name)) this.#rules.set(name, rule);
    }
  }

  #keep(size: number): boolean {
    if (this.#kept + size > MAX_BUFFERED) return false;
    this.#kept += size;
    return true;
  }
}

function ruleFrom(value: JsonObject): SarifRule {
  const properties = asJsonObject(value.properties);
  const help = asJsonObject(value.help);
  const short = asJsonObject(value.shortDescription);
  const full = asJsonObject(value.fullDescription);
  const targets = arrayOf(value.relationships).map((one) => asJsonObject(asJsonObject(one).target));
  const cut = (text: string | undefined): string | undefined => text?.slice(0, MAX_TEXT);
  const messages = isJsonObject(value.messageStrings) ? value.messageStrings : {};
  return {
    id: cut(textOf(value.id)),
    title: cut(textOf(short.text) ?? textOf(value.name)),
    description: cut(textOf(full.text) ?? textOf(help.text)),
    help: cut(textOf(help.markdown) ?? textOf(full.markdown)),
    level: textOf(asJsonObject(value.defaultConfiguration).level),
    score: numberOf(properties['security-severity']),
    identifiers: identifierText(properties, targets).slice(0, MAX_TEXT),
    cvss: numberOf(properties.cvssv3_baseScore),
    links: textsOf(value.helpUri).map((link) => link.slice(0, 2_048)),
    messages: JSON.stringify(messages).length > MAX_TEXT ? {} : messages,
  };
}

/** @param targets of relationships, or taxa: those of the list of CWEs may be bare numbers */
export function identifierText(properties: JsonObject, targets: readonly JsonObject[]): string {
  const names = targets.map((target) => {
    const id = textOf(target.id) ?? '';
    const list = textOf(asJsonObject(target.toolComponent).name) ?? '';
    return /cwe/i.test(list) && /^\d+$/.test(id) ? `CWE-${id}` : id;
  });
  return [...textsOf(properties.tags), ...textsOf(properties.cwe), ...textsOf(properties.cve), ...names].join(
    ' ',
  );
}
