# A server on Python, from a folder that build.sh and copy-python.sh have filled.
FROM scratch
COPY . /
WORKDIR /servers
USER 65532:65532
