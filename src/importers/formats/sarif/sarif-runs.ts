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
import { SarifBases } from './sarif-bases.ts';

/**
 * The parts of a run that are read before its results. Notifications and file contents can be large and are skipped.
 */
export const RUN_PATHS = [
  'runs.*.tool.driver.name',
  'runs.*.tool.driver.rules.*',
  'runs.*.tool.extensions.*.name',
  'runs.*.tool.extensions.*.rules.*',
  'runs.*.automationDetails.id',
  'runs.*.originalUriBaseIds.*',
  'runs.*.invocations.*.executionSuccessful',
  'runs.*.invocations.*.startTimeUtc',
  'runs.*.invocations.*.endTimeUtc',
  'runs.*.invocations.*.workingDirectory.uri',
  'runs.*.artifacts.*.location.uri',
  'runs.*.artifacts.*.location.uriBaseId',
];

/** The metadata of a rule (section 3.49). */
export interface SarifRule {
  id: string | undefined;
  title: string | undefined;
  /** Plain text. */
  description: string | undefined;
  /** Markdown. */
  help: string | undefined;
  level: string | undefined;
  /** GitHub's `security-severity`, from 0 to 10. */
  score: number | undefined;
  /** Tags and taxa, which may contain CVE and CWE ids. */
  identifiers: string;
  cvss: number | undefined;
  links: string[];
  messages: JsonObject;
}

const MAX_TEXT = 16_384;
/** Characters of rules and paths per run. */
const MAX_BUFFERED = 24 * 1024 * 1024;
const MAX_ARTIFACTS = 500_000;
/** The part of `automationDetails.id` that differs per run: a date, a number or a UUID (section 3.17.3). */
const RUN_SUFFIX = /\/(?:\d[\d:.TZ_-]*|[\da-f]{8,}(?:-[\da-f]{4,})*)?$/i;

/** The metadata of a run (section 3.14). */
export class SarifRun {
  source: string | undefined;
  scannedAt: number | undefined;
  hasResults = false;
  #failed = false;
  #toolOffset: number | undefined;
  #automation: string | undefined;
  #buffered = 0;
  readonly #bases = new SarifBases();
  readonly #artifacts = new Map<number, { uri?: string; base?: string }>();
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
      if (text !== undefined && this.#reserve(text.length)) this.#extensions.set(text, String(keys.at(-2)));
    } else if (member === 'automationDetails.id') this.#automation = text?.slice(0, 1_000);
    else if (member === 'invocations.*.executionSuccessful') this.#failed ||= value === false;
    else if (member.endsWith('TimeUtc')) {
      const time = parseTime(value);
      if (time !== undefined) this.scannedAt = Math.max(this.scannedAt ?? 0, time);
    } else if (member === 'originalUriBaseIds.*') {
      const { uri, uriBaseId } = asJsonObject(value);
      this.#addBase(String(keys[3]), textOf(uri), textOf(uriBaseId));
    } else if (text === undefined) return;
    else if (member.startsWith('artifacts.')) this.#addArtifact(keys[3] as number, String(keys.at(-1)), text);
    else if (text.length <= MAX_TEXT) this.#bases.addWorkingFolder(text);
  }

  /** Identifies later reports of the same subject (section 7). */
  get artifact(): string {
    return this.#automation?.replace(RUN_SUFFIX, '') || this.#automation || (this.source ?? 'sarif');
  }

  /** Whether every invocation succeeded, so that missing findings are gone. */
  get isComplete(): boolean {
    return !this.#failed;
  }

  /** Whether the metadata of a result may be in the part of a truncated report that was not read. */
  isMissingRulesFor(result: JsonObject, offset: number): boolean {
    if (this.#toolOffset === undefined) return true;
    return offset < this.#toolOffset && this.ruleOf(result) === undefined;
  }

  /** By index, by id, and by the id without its last segments (sections 3.27.5 to 3.27.7 and 3.52). */
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

  /** @returns the decoded path of a file, relative to the run's root if known */
  pathOf(location: JsonObject): string | undefined {
    const index = numberOf(location.index);
    const artifact = index === undefined ? undefined : this.#artifacts.get(index);
    const uri = textOf(location.uri) ?? artifact?.uri;
    if (uri === undefined) return undefined;
    const base = textOf(location.uriBaseId) ?? (uri === artifact?.uri ? artifact.base : undefined);
    const path = this.#bases.pathOf(uri, base);
    if (/^https?:\/\//i.test(path)) return path;
    try {
      return decodeURIComponent(path);
    } catch {
      return path;
    }
  }

  #addBase(name: string, uri: string | undefined, parent: string | undefined): void {
    if (this.#reserve(name.length + (uri?.length ?? 0) + (parent?.length ?? 0))) {
      this.#bases.add(name, uri, parent);
    }
  }

  #addArtifact(index: number, member: string, text: string): void {
    if (!this.#reserve(text.length)) return;
    const artifact = this.#artifacts.get(index) ?? {};
    if (member === 'uri') artifact.uri = text;
    else artifact.base = text;
    if (this.#artifacts.size < MAX_ARTIFACTS) this.#artifacts.set(index, artifact);
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
    if (!this.#reserve(500 + size + JSON.stringify(rule.messages).length)) return;
    this.#rules.set(`${component}#${index}`, rule);
    // For results that do not name the rule's component.
    for (const name of id === '' ? [] : [`${component}:${id}`, `*:${id}`]) {
      if (!this.#rules.has(name)) this.#rules.set(name, rule);
    }
  }

  #reserve(size: number): boolean {
    if (this.#buffered + size > MAX_BUFFERED) return false;
    this.#buffered += size;
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

/** @param targets of relationships, or taxa; CWE ids may be bare numbers */
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
