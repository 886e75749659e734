import {
  arrayOf,
  type JsonObject,
  asJsonObject,
  numberOf,
  textOf,
  textsOf,
} from '../../parsing/json-values.ts';

/** The metadata of a rule (section 3.49). */
export interface SarifRule {
  /** The key of the component that defines it. */
  component: string;
  id: string | undefined;
  guid: string | undefined;
  title: string | undefined;
  /** Plain text. */
  description: string | undefined;
  /** Markdown. */
  help: string | undefined;
  level: string | undefined;
  /** GitHub's `security-severity`, from 0 to 10. */
  score: number | undefined;
  /** Tags, which may contain CVE and CWE ids. */
  tags: string;
  taxa: readonly JsonObject[];
  cvss: number | undefined;
  links: string[];
  messages: JsonObject;
}

const MAX_TEXT = 16_384;
/** Characters of the messages of a rule. */
const MAX_MESSAGES = 256 * 1024;
/** Taxa per rule, and characters of their ids. */
const MAX_TAXA = 1_000;
const MAX_ID = 256;

/** @returns a rule within limits, and the characters that it takes */
export function ruleFrom(value: JsonObject, component: string): { rule: SarifRule; size: number } {
  const properties = asJsonObject(value.properties);
  const help = asJsonObject(value.help);
  const shortDescription = asJsonObject(value.shortDescription);
  const fullDescription = asJsonObject(value.fullDescription);
  const messages = JSON.stringify(asJsonObject(value.messageStrings));
  const taxa = arrayOf(value.relationships).slice(0, MAX_TAXA).map(targetOf);
  const rule = {
    component,
    id: cut(textOf(value.id)),
    guid: textOf(value.guid)?.slice(0, MAX_ID),
    title: cut(textOf(shortDescription.text) ?? textOf(value.name)),
    description: cut(textOf(fullDescription.text) ?? textOf(help.text)),
    help: cut(textOf(help.markdown) ?? textOf(fullDescription.markdown)),
    level: textOf(asJsonObject(value.defaultConfiguration).level),
    score: numberOf(properties['security-severity']),
    tags: identifierText(properties).slice(0, MAX_TEXT),
    taxa,
    cvss: numberOf(properties.cvssv3_baseScore),
    links: textsOf(value.helpUri).map((link) => link.slice(0, 2_048)),
    messages: messages.length > MAX_MESSAGES ? {} : asJsonObject(value.messageStrings),
  };
  const { id = '', title = '', description = '', help: markdown = '', tags } = rule;
  const texts = id.length + title.length + description.length + markdown.length + tags.length;
  const otherCharacters =
    Math.min(messages.length, MAX_MESSAGES) + (taxa.length === 0 ? 0 : JSON.stringify(taxa).length);
  return { rule, size: 500 + texts + otherCharacters };
}

const cut = (text: string | undefined): string | undefined => text?.slice(0, MAX_TEXT);

/** @returns the reference in a relationship (section 3.53.2), with only the members that `taxonOf` uses */
function targetOf(relationship: unknown): JsonObject {
  const target = asJsonObject(asJsonObject(relationship).target);
  const { name, index, guid } = asJsonObject(target.toolComponent);
  const limited = (value: unknown): unknown =>
    typeof value === 'string' ? value.slice(0, MAX_ID) : numberOf(value);
  return {
    id: limited(target.id),
    index: numberOf(target.index),
    guid: limited(target.guid),
    toolComponent:
      target.toolComponent === undefined
        ? undefined
        : { name: limited(name), index: numberOf(index), guid: limited(guid) },
  };
}

/** @returns tags and the like, which may contain CVE and CWE ids */
export function identifierText(properties: JsonObject): string {
  return [...textsOf(properties.tags), ...textsOf(properties.cwe), ...textsOf(properties.cve)].join(' ');
}
