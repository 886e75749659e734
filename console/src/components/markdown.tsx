import { Anchor, Typography } from '@mantine/core';
import { type Components, toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { type ComponentProps, use, useMemo } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import { downloadAttachment } from '../queries/attachments.ts';
import { AttachmentImage, BlobImage } from './attachment-image.tsx';
import { DimmedText } from './dimmed-text.tsx';
import { useParsedMarkdown } from './parsed-markdown.ts';
import { markdownMessages } from './markdown-messages.ts';
import { PendingUploads } from './pending-uploads.ts';
import classes from './markdown.module.css';

const messages = markdownMessages;

interface TextProps {
  children: string;
  /** Id of the vulnerability that `attachment:{id}` refers to. */
  vulnerabilityId?: number;
}

/**
 * Renders CommonMark with tables. HTML is shown as text; only attachments are loaded as images. A text that is too long
 * or too deeply nested to parse is shown as plain text.
 */
export default function MarkdownText({ children: text, vulnerabilityId }: TextProps) {
  const findPendingUpload = use(PendingUploads);
  const parsed = useParsedMarkdown(text);
  const content = useMemo(
    () =>
      parsed === undefined || typeof parsed === 'string'
        ? undefined
        : toJsxRuntime(parsed, {
            Fragment,
            jsx,
            jsxs,
            ignoreInvalidStyle: true,
            components: componentsFor(vulnerabilityId, findPendingUpload),
          }),
    [parsed, vulnerabilityId, findPendingUpload],
  );
  if (content !== undefined) return <Typography className={classes.text}>{content}</Typography>;
  if (parsed === undefined)
    return (
      <div aria-busy className={`${classes.text} ${classes.pending}`}>
        {text}
      </div>
    );
  return (
    <div className={classes.text}>
      <DimmedText size="xs" mb={4}>
        {parsed === 'unavailable' ? messages.parserUnavailable : messages.tooComplex}
      </DimmedText>
      <div className={classes.plain}>{text}</div>
    </div>
  );
}

function componentsFor(
  vulnerabilityId: number | undefined,
  findPendingUpload: (url: string) => Blob | undefined,
): Components {
  return {
    // Texts are in sections, whose headings are above theirs.
    h1: 'h3',
    h2: 'h4',
    h3: 'h5',
    h4: 'h6',
    h5: 'h6',
    a({ href, children: content }: ComponentProps<'a'>) {
      if (href?.toLowerCase().startsWith('attachment:') !== true)
        return (
          <Anchor href={href} target="_blank" rel="noreferrer noopener nofollow">
            {content}
          </Anchor>
        );
      const id = parseAttachmentId(href);
      return id === undefined || vulnerabilityId === undefined ? (
        <span>{content}</span>
      ) : (
        <Anchor
          component="button"
          type="button"
          className={classes.file}
          onClick={() => void downloadAttachment(vulnerabilityId, { id })}
        >
          {content}
        </Anchor>
      );
    },
    img({ src, alt }: ComponentProps<'img'>) {
      const pending = findPendingUpload(String(src));
      if (pending !== undefined) return <BlobImage content={pending} alt={alt ?? ''} />;
      const id = parseAttachmentId(src);
      return id === undefined || vulnerabilityId === undefined ? (
        <span>{alt === '' || alt === undefined ? 'image' : alt}</span>
      ) : (
        <AttachmentImage vulnerabilityId={vulnerabilityId} id={id} alt={alt ?? ''} />
      );
    },
    table: ({ children: rows }: ComponentProps<'table'>) => (
      // Scrollable regions must be reachable with the keyboard.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      <div className={classes.wide} role="region" aria-label="Table" tabIndex={0}>
        <table>{rows}</table>
      </div>
    ),
  };
}

/** Parses the id of `attachment:12`. */
function parseAttachmentId(address: unknown): number | undefined {
  const id = typeof address === 'string' ? /^attachment:(\d{1,15})$/i.exec(address)?.[1] : undefined;
  return id === undefined ? undefined : Number(id);
}
