import { Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../queries/client.ts';

interface AttachmentImageProps {
  vulnerability: number;
  id: number;
  /** What it shows, for who cannot see it. */
  alt: string;
}

/** A picture among the attachments of a vulnerability, which is read with the token and shown from memory. */
export function AttachmentImage({ vulnerability, id, alt }: AttachmentImageProps) {
  const { data, error } = useQuery({
    queryKey: ['vulnerability', vulnerability, 'attachment', id],
    queryFn: async ({ signal }) => {
      const { data: content } = await api.GET('/v1/vulnerabilities/{id}/attachments/{attachment_id}', {
        params: { path: { id: vulnerability, attachment_id: id } },
        parseAs: 'blob',
        signal,
      });
      return content;
    },
    staleTime: Infinity,
  });
  if (error !== null) return <span>{alt} (the picture cannot be shown)</span>;
  if (data === undefined) return <Loader size="sm" aria-label={`Loading ${alt}`} />;
  return <BlobImage content={data} alt={alt} />;
}

/** A picture that is in memory. */
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
