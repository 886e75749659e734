import { Anchor, Typography } from '@mantine/core';
import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { AttachedPicture } from './attached-picture.tsx';

interface TextProps {
  children: string;
  /** The vulnerability whose attachments `attachment:{id}` names; absent where there is none. */
  vulnerability?: number;
}

/** A text of the platform: CommonMark and tables; HTML in it is text, and no picture is loaded but an attachment. */
export default function MarkdownText({ children, vulnerability }: TextProps) {
  return (
    <Typography>
      <Markdown
        remarkPlugins={[remarkGfm]}
        urlTransform={(url) => (/^(https?:|mailto:|attachment:|#)/i.test(url) ? url : '')}
        components={{
          a: ({ href, children: words }) => (
            <Anchor href={href} target="_blank" rel="noreferrer noopener nofollow">
              {words}
            </Anchor>
          ),
          img({ src, alt }) {
            const id = typeof src === 'string' ? /^attachment:(\d+)$/.exec(src)?.[1] : undefined;
            return id === undefined || vulnerability === undefined ? (
              <span>{alt === '' || alt === undefined ? 'picture' : alt}</span>
            ) : (
              <AttachedPicture vulnerability={vulnerability} id={Number(id)} alt={alt ?? ''} />
            );
          },
        }}
      >
        {children}
      </Markdown>
    </Typography>
  );
}
