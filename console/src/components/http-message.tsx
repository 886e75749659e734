import { Button, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconTextWrap } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { AttachmentImage } from './attachment-image.tsx';
import { CopyButton } from './copy-button.tsx';
import { curlCommand } from './curl-command.ts';
import { splitEvidence } from './embedded-images.ts';
import { httpMessageMessages as messages } from './http-message-messages.ts';
import { splitLines, tokenizeLines } from './http-tokens.ts';
import { useIsPrinting } from './printing.ts';
import { scrollRegionProps } from './scroll-region.ts';
import classes from './http-message.module.css';

/** Lines shown at first by default, and the most that are added at a time. */
const FOLDED_LINES = 24;
const ADDED_LINES = 1_000;

interface HttpMessageProps {
  text: string;
  /** Its position among the evidence of the vulnerability. */
  number: number;
  vulnerabilityId: number;
  /** Lines shown at first. */
  foldedLines?: number;
}

/** Evidence: an HTTP request, a response or another text, with its embedded images. */
export function HttpMessage({ text, number, vulnerabilityId, foldedLines = FOLDED_LINES }: HttpMessageProps) {
  const [isWrapped, setWrapped] = useState(false);
  const parts = useMemo(() => splitEvidence(text), [text]);
  const command = useMemo(() => curlCommand(requestOf(text)), [text]);
  const lineCount = useMemo(() => splitLines(text).length, [text]);
  const hasText = parts.some(({ attachmentId }) => attachmentId === undefined);
  return (
    <figure className={classes.message}>
      <figcaption>
        <b>{messages.kinds[hasText ? kindOf(text) : 'image']}</b>
        {hasText && <span className={classes.count}>{messages.lineCount(lineCount)}</span>}
        <span className={classes.actions}>
          {command !== undefined && (
            <CopyButton variant="subtle" label={messages.copyAsCurl} text={command} />
          )}
          {hasText && (
            <Button
              size="xs"
              variant="subtle"
              color="gray"
              leftSection={<IconTextWrap size={14} aria-hidden />}
              aria-label={messages.wrapLabel(number)}
              aria-pressed={isWrapped}
              onClick={() => setWrapped(!isWrapped)}
            >
              {messages.wrap}
            </Button>
          )}
          <CopyButton text={text} label={messages.copy(number)} />
        </span>
      </figcaption>
      {parts.map((part, index) =>
        part.attachmentId === undefined ? (
          <Lines
            key={index}
            text={part.text}
            label={messages.label(number)}
            isWrapped={isWrapped}
            foldedLines={foldedLines}
          />
        ) : (
          <div key={index} className={classes.picture}>
            <AttachmentImage
              vulnerabilityId={vulnerabilityId}
              id={part.attachmentId}
              alt={part.text === '' ? messages.kinds.image : part.text}
            />
          </div>
        ),
      )}
    </figure>
  );
}

interface LinesProps {
  text: string;
  label: string;
  isWrapped: boolean;
  foldedLines: number;
}

/** Numbered lines with coloured tokens; a long text is folded. */
function Lines({ text, label, isWrapped, foldedLines }: LinesProps) {
  const [openCount, setOpenCount] = useState(foldedLines);
  const shownCount = useIsPrinting() ? Infinity : openCount;
  const lines = useMemo(() => splitLines(text), [text]);
  const tokenized = useMemo(() => tokenizeLines(lines.slice(0, shownCount)), [lines, shownCount]);
  const remaining = lines.length - tokenized.length;
  const added = Math.min(remaining, ADDED_LINES);
  return (
    <>
      <pre
        className={classes.lines}
        data-wrapped={isWrapped || undefined}
        data-folded={shownCount === foldedLines || undefined}
        {...scrollRegionProps(label)}
      >
        {tokenized.map((tokens, index) => (
          <span key={index}>
            {tokens.map(({ kind, text: content }, position) =>
              kind === undefined ? (
                content
              ) : (
                <span key={position} data-token={kind}>
                  {content}
                </span>
              ),
            )}
          </span>
        ))}
      </pre>
      {remaining > 0 && (
        <UnstyledButton className={classes.more} onClick={() => setOpenCount(shownCount + added)}>
          <IconChevronDown size={16} aria-hidden />
          {messages.showMoreLines(added, remaining)}
        </UnstyledButton>
      )}
    </>
  );
}

/** @returns a text up to the response that follows its request */
const requestOf = (text: string): string => text.split(/\r?\n\r?\n(?=HTTP\/\d)/, 1)[0] ?? '';

function kindOf(text: string): Exclude<keyof typeof messages.kinds, 'image'> {
  if (/^HTTP\/\d/.test(text)) return 'response';
  if (!/^[A-Z]{3,20} \S+ HTTP\/\d/.test(text)) return 'other';
  return /\n\r?\nHTTP\/\d/.test(text) ? 'exchange' : 'request';
}
