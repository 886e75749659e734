/** The alternative text excludes brackets, which may begin another image: this keeps the search linear. */
const IMAGE = /!\[([^[\]]*)\]\(attachment:(\d+)\)/g;
/** Each image is a request; further images of a text are shown as text. */
const MAX_IMAGES = 200;

interface EvidencePart {
  /** The alternative text of an image. */
  text: string;
  attachmentId?: number;
}

/** Splits evidence at its images; omits blank text between them. */
export function splitEvidence(text: string): EvidencePart[] {
  const parts: EvidencePart[] = [];
  let end = 0;
  for (const match of text.matchAll(IMAGE)) {
    if (parts.length === 2 * MAX_IMAGES) break;
    parts.push(
      { text: text.slice(end, match.index) },
      { text: match[1] ?? '', attachmentId: Number(match[2]) },
    );
    end = match.index + match[0].length;
  }
  parts.push({ text: text.slice(end) });
  return parts.filter((part) => part.attachmentId !== undefined || part.text.trim() !== '');
}

/** Removes embedded images that belong to another vulnerability or are lost. */
export function stripImages(text: string, kind = ''): string {
  return text.replaceAll(new RegExp(`!\\[[^[\\]]*\\]\\(attachment:${kind}[^()]*\\)`, 'g'), '');
}
