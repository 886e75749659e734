import { Anchor, Typography } from '@mantine/core';
import { use } from 'react';
import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { downloadAttachment } from '../queries/attachments.ts';
import { AttachmentImage, BlobImage } from './attachment-image.tsx';
import { PendingUploads } from './pending-uploads.ts';
import classes from './markdown.module.css';

interface TextProps {
  children: string;
  /** Id of the vulnerability that `attachment:{id}` refers to. */
  vulnerability?: number;
}

/** Renders CommonMark with tables. HTML is shown as text; only attachments are loaded as images. */
export default function MarkdownText({ children, vulnerability }: TextProps) {
  const pendingAt = use(PendingUploads);
  return (
    <Typography className={classes.text}>
      <Markdown
        remarkPlugins={[remarkGfm]}
        urlTransform={(url) => (/^(https?:|mailto:|attachment:|#)/i.test(url) ? url : '')}
        components={{
          a({ href, children: content }) {
            if (href?.toLowerCase().startsWith('attachment:') !== true)
              return (
                <Anchor href={href} target="_blank" rel="noreferrer noopener nofollow">
                  {content}
                </Anchor>
              );
            const id = parseAttachmentId(href);
            return id === undefined || vulnerability === undefined ? (
              <span>{content}</span>
            ) : (
              <Anchor
                component="button"
                type="button"
                className={classes.file}
                onClick={() => void downloadAttachment(vulnerability, { id })}
              >
                {content}
              </Anchor>
            );
          },
          img({ src, alt }) {
            const pending = pendingAt(String(src));
            if (pending !== undefined) return <BlobImage content={pending} alt={alt ?? ''} />;
            const id = parseAttachmentId(src);
            return id === undefined || vulnerability === undefined ? (
              <span>{alt === '' || alt === undefined ? 'image' : alt}</span>
            ) : (
              <AttachmentImage vulnerability={vulnerability} id={id} alt={alt ?? ''} />
            );
          },
          table: ({ children: rows }) => (
            // Scrollable regions must be reachable with the keyboard.
            // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
            <div className={classes.wide} role="region" aria-label="Table" tabIndex={0}>
              <table>{rows}</table>
            </div>
          ),
        }}
      >
        {children}
      </Markdown>
    </Typography>
  );
}

/** Parses the id of `attachment:12`. */
function parseAttachmentId(address: unknown): number | undefined {
  const id = typeof address === 'string' ? /^attachment:(\d{1,15})$/i.exec(address)?.[1] : undefined;
  return id === undefined ? undefined : Number(id);
}
