/** The paragraphs, items and code blocks of a Markdown or plain text. */
export class TextBlocks {
  readonly #blocks: { text: string; isItem: boolean }[] = [];

  /**
   * @param indent columns in which the block begins, with its marker
   * @param marker of the item that it begins; empty if it begins none
   */
  add(text: string, indent: number, marker: string): void {
    const spaces = ' '.repeat(indent);
    this.#blocks.push({
      text:
        spaces.slice(marker.length) + marker + (indent === 0 ? text : text.replaceAll('\n', `\n${spaces}`)),
      isItem: marker !== '',
    });
  }

  /** @returns the blocks with an empty line between them, except between items */
  toString(): string {
    const parts: string[] = [];
    for (const [index, { text, isItem }] of this.#blocks.entries()) {
      if (index > 0) parts.push(isItem && this.#blocks[index - 1]?.isItem === true ? '\n' : '\n\n');
      parts.push(text);
    }
    return parts.join('');
  }
}
