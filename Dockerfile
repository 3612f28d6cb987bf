# The web app in a container: docker build -t tengen . && docker run --rm -p 8000:8000 -v tengen:/data tengen
FROM python:3.12-slim
COPY . /source
RUN pip install --no-cache-dir --constraint /source/constraints.txt /source && rm -rf /source \
    && useradd --create-home --uid 1000 player && mkdir /data && chown player /data
USER player
WORKDIR /data
ENV XDG_CACHE_HOME=/data/cache
VOLUME /data
EXPOSE 8000
# It prints a link with a token, which whoever plays must have once.
CMD ["tengen", "serve", "--host", "0.0.0.0"]
