import { Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../queries/client.ts';
import { markdownMessages } from './markdown-messages.ts';

interface AttachmentImageProps {
  vulnerabilityId: number;
  id: number;
  alt: string;
}

/** An attached image, fetched with the access token. */
export function AttachmentImage({ vulnerabilityId, id, alt }: AttachmentImageProps) {
  const { data, error } = useQuery({
    // Outside the keys of the vulnerability, which every edit reloads: the content never changes.
    queryKey: ['attachment', vulnerabilityId, id],
    queryFn: async ({ signal }) => {
      const { data: content } = await api.GET('/v1/vulnerabilities/{id}/attachments/{attachment_id}', {
        params: { path: { id: vulnerabilityId, attachment_id: id } },
        parseAs: 'blob',
        signal,
      });
      return content;
    },
    staleTime: Infinity,
  });
  if (error !== null) return <span>{markdownMessages.imageFailed(alt)}</span>;
  if (data === undefined) return <Loader size="sm" aria-label={markdownMessages.loadingImage(alt)} />;
  return <BlobImage content={data} alt={alt} />;
}

export function BlobImage({ content, alt }: { content: Blob; alt: string }) {
  return (
    <img
      alt={alt}
      ref={(image) => {
        if (image === null) return undefined;
        image.src = URL.createObjectURL(content);
        return () => URL.revokeObjectURL(image.src);
      }}
    />
  );
}
